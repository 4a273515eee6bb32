/**
 * `acl`: access rules for queries.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { zonesOrBlock } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseCidr } from '@portolan/corefile/directive/go-values.ts';
import { parseExactType } from '@portolan/corefile/directive/type-names.ts';
import type { AddressRange } from '@portolan/dns/address-range.ts';
import { Acl } from './acl.ts';
import type { AclOptions, AclPolicy } from './options.ts';

type AclAction = AclPolicy['action'];
const ACTIONS: readonly AclAction[] = ['allow', 'block', 'filter', 'drop'];
const SECTIONS = ['type', 'net'];

/** `acl [ZONES…] { ACTION [type TYPE…] [net ADDRESS…] }`. Source: plugin/acl of CoreDNS 1.14.7. */
export const acl = definePlugin({
  name: 'acl',
  joinsBlocks: true,
  syntax: ['acl [ZONES…] {\n    allow|block|filter|drop [type TYPE…] [net ADDRESS[/BITS]…]\n}'],
  read(cursor, context): AclOptions {
    const rules: AclOptions['rules'][number][] = [];
    cursor.eachUse(() => {
      const zones = zonesOrBlock(cursor.remainingArguments(), context);
      const policies: AclPolicy[] = [];
      while (cursor.nextInBlock()) cursor.guardLine(() => policies.push(readPolicy(cursor)));
      rules.push({ zones, policies });
    });
    return { rules };
  },
  create: (options, { metrics }) => new Acl(options, metrics),
});

function readPolicy(cursor: DirectiveCursor): AclPolicy {
  const word = cursor.word;
  const action = ACTIONS.find((known) => known === word.toLowerCase());
  if (action === undefined)
    throw cursor.error(
      `unexpected token ${JSON.stringify(word)}; expect 'allow', 'block', 'filter' or 'drop'`,
      'Begin each line with one of the four.',
    );
  let types: AclPolicy['types'] = 'all';
  let clients: AclPolicy['clients'] = 'all';
  let isTyped = false;
  let isBound = false;
  for (let words = cursor.remainingArguments(); words.length > 0; ) {
    const { section, tokens } = takeSection(cursor, words);
    words = words.slice(tokens.length + 1);
    if (section === 'type') {
      types = joined(isTyped ? types : [], readTypes(cursor, tokens));
      isTyped = true;
    } else {
      clients = joined(isBound ? clients : [], readClients(cursor, tokens));
      isBound = true;
    }
  }
  return { action, types, clients };
}

function takeSection(
  cursor: DirectiveCursor,
  words: readonly string[],
): { section: string; tokens: readonly string[] } {
  const [first = '', ...rest] = words;
  const section = first.toLowerCase();
  if (!SECTIONS.includes(section))
    throw cursor.error(
      `unexpected token ${JSON.stringify(first)}; expect 'type | net'`,
      'Write type before types and net before addresses.',
    );
  const end = rest.findIndex((word) => SECTIONS.includes(word.toLowerCase()));
  const tokens = end < 0 ? rest : rest.slice(0, end);
  if (tokens.length === 0)
    throw cursor.error(
      `no token specified in ${JSON.stringify(section)} section`,
      `Write what the section holds behind ${section}, * for all.`,
    );
  return { section, tokens };
}

function joined<Member>(
  before: 'all' | readonly Member[],
  further: 'all' | readonly Member[],
): 'all' | readonly Member[] {
  return before === 'all' || further === 'all' ? 'all' : [...before, ...further];
}

function readTypes(cursor: DirectiveCursor, tokens: readonly string[]): AclPolicy['types'] {
  const types: number[] = [];
  for (const token of tokens) {
    if (token === '*') return 'all';
    const type = parseExactType(token);
    if (type === undefined)
      throw cursor.error(
        `unexpected token ${JSON.stringify(token)}; expect legal QTYPE`,
        'Write types in capitals, as in AAAA, or * for all.',
      );
    types.push(type);
  }
  return types;
}

function readClients(cursor: DirectiveCursor, tokens: readonly string[]): AclPolicy['clients'] {
  const ranges: AddressRange[] = [];
  for (const token of tokens) {
    if (token === '*') return 'all';
    const text = token.includes('/') ? token : `${token}/${token.includes(':') ? 128 : 32}`;
    const range = parseCidr(text);
    if (range.kind === 'bad')
      throw cursor.error(
        `illegal CIDR notation ${JSON.stringify(text)}`,
        'Write an address, or a range as in 10.0.0.0/8.',
      );
    ranges.push(range.value);
  }
  return ranges;
}
