/**
 * `dnssec`: answers that are signed while they are served.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { type DirectiveContext, type Draft, zonesOrBlock } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseInteger } from '@portolan/corefile/directive/go-values.ts';
import { computeKeyTag } from '@portolan/dns/dnssec/dnskey.ts';
import { isWithin } from '@portolan/dns/name.ts';
import { PLAN } from '@portolan/kernel/contract/services.ts';
import { readKeyPair, toBasePath } from './key-files.ts';
import type { DnssecOptions, NamedKeyPair } from './options.ts';

const DEFAULT_CAPACITY = 10_000;
const KEY_REMEDY = 'Name files of keys, as in key file Kexample.org.+013+45330.';

/** Source: plugin/dnssec of CoreDNS 1.14.7. */
export const dnssec = definePlugin({
  name: 'dnssec',
  joinsBlocks: true,
  syntax: ['dnssec [ZONES…] {', '    key file KEY…', '    cache_capacity CAPACITY', '}'],
  read(cursor, context): DnssecOptions {
    const draft: Draft<DnssecOptions> = { zones: context.zones, keys: [], capacity: DEFAULT_CAPACITY };
    cursor.onlyUse(() => {
      draft.zones = zonesOrBlock(cursor.remainingArguments(), context);
      cursor.properties({
        key: () => {
          draft.keys = [...draft.keys, ...readKeys(cursor, context)];
        },
        cache_capacity: () => {
          const remedy = 'Give a number of sets of records, such as 10000.';
          draft.capacity = cursor.bare(parseInteger(cursor.requiredArgument()), remedy);
        },
      });
      for (const key of draft.keys) refuseForeign(key, draft, cursor);
    });
    return draft;
  },
  async load() {
    const { Dnssec } = await import('./dnssec.ts');
    return { create: (options, context) => new Dnssec(options, { ...context, ...context.use(PLAN) }) };
  },
});

function readKeys(cursor: DirectiveCursor, context: DirectiveContext): readonly NamedKeyPair[] {
  const source = cursor.requiredArgument();
  if (source === 'aws_secretsmanager')
    throw cursor.ownError(
      'keys of AWS Secrets Manager are not read',
      'Mount the keys as files, as External Secrets or the Secrets Store CSI driver do, and name them by key file.',
    );
  if (source !== 'file') throw cursor.ownError(`unknown kind of key: ${JSON.stringify(source)}`, KEY_REMEDY);
  const paths = cursor.remainingArguments();
  if (paths.length === 0) throw cursor.argumentError(KEY_REMEDY);
  const { files, resolve } = context;
  return paths.map((path) => readKeyPair(resolve(toBasePath(path)), KEY_REMEDY, cursor, files));
}

/** A key may sign the zone that it was made for, and those below it. */
function refuseForeign(
  { owner, dnskey }: NamedKeyPair,
  { zones }: DnssecOptions,
  cursor: DirectiveCursor,
): void {
  if (zones.some((zone) => isWithin(zone, owner))) return;
  cursor.refuse(
    cursor.bareError(
      `key ${owner} (keyid: ${computeKeyTag(dnskey)}) can not sign any of the zones`,
      'Make a key for one of the zones, or name the zone of the key.',
    ),
  );
}
