/**
 * `transfer`: whole zones for secondary servers.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { type DirectiveContext, type Draft, zonesOrBlock } from '@portolan/corefile/directive/directive.ts';
import { type DirectiveCursor, DirectiveError } from '@portolan/corefile/directive/directive-cursor.ts';
import { isAddress } from '@portolan/corefile/directive/go-values.ts';
import { readServerAddress } from '@portolan/corefile/directive/server-address.ts';
import { PLAN } from '@portolan/kernel/contract/services.ts';
import { readKeyName } from '../tsig/key-name.ts';
import { Tsig } from '../tsig/tsig.ts';
import type { TransferOptions, TransferRule } from './options.ts';
import { Transfer } from './transfer.ts';

const REMEDY = 'Write to *, or to with addresses of secondary servers, as in to 192.0.2.53.';

/**
 * `transfer [ZONES…] { to *|ADDRESS…; source ADDRESS; key NAME }`. Source: plugin/transfer of CoreDNS 1.14.7, which has no `key`.
 */
export const transfer = definePlugin({
  name: 'transfer',
  syntax: ['transfer [ZONES…] {', '    to *|ADDRESS…', '    source ADDRESS', '    key NAME', '}'],
  read(cursor, context): TransferOptions {
    const rules: TransferRule[] = [];
    cursor.eachUse(() => {
      rules.push(readRule(cursor, context));
    });
    return { rules };
  },
  create: (options, context) =>
    new Transfer(options, {
      ...context,
      ...context.use(PLAN),
      keyNamed: (name) => context.find(Tsig)?.keyNamed(name),
    }),
});

function readRule(cursor: DirectiveCursor, context: DirectiveContext): TransferRule {
  const zones = zonesOrBlock(cursor.remainingArguments(), context);
  const draft: Draft<TransferRule> = {
    zones,
    toAll: false,
    secondaries: [],
    source: undefined,
    key: undefined,
  };
  let isFaulty = false;
  const guard = (read: () => void) => () => {
    isFaulty = true;
    read();
    isFaulty = false;
  };
  cursor.properties(
    {
      to: guard(() => readSecondaries(cursor, draft)),
      source: guard(() => {
        draft.source = readSource(cursor, draft.source);
      }),
      key: guard(() => {
        draft.key = readKeyName(cursor);
      }),
    },
    (name) => {
      isFaulty = true;
      return twiceNamed(
        cursor.error(`unknown property ${JSON.stringify(name)}`, 'Known here: to, source, key.'),
      );
    },
  );
  if (!isFaulty && !draft.toAll && draft.secondaries.length === 0)
    throw twiceNamed(cursor.error("'to' is required", REMEDY));
  return draft;
}

/** CoreDNS writes the plugin's name twice here. */
function twiceNamed({ message, position, remedy }: DirectiveError): DirectiveError {
  return new DirectiveError(`plugin/transfer: ${message}`, position, remedy);
}

function readSecondaries(cursor: DirectiveCursor, draft: Draft<TransferRule>): void {
  const words = cursor.remainingArguments();
  if (words.length === 0) throw cursor.argumentError(REMEDY);
  for (const word of words)
    if (word === '*') draft.toAll = true;
    else draft.secondaries = [...draft.secondaries, readServerAddress(cursor, word, REMEDY)];
}

function readSource(cursor: DirectiveCursor, before: string | undefined): string {
  const [address = ''] = cursor.remainingBetween(1, 1);
  if (before !== undefined)
    throw twiceNamed(cursor.error('source already specified', 'Take one of the two lines out.'));
  if (!isAddress(address))
    throw twiceNamed(
      cursor.error(`invalid source address ${JSON.stringify(address)}`, 'Give an address of this machine.'),
    );
  return address;
}
