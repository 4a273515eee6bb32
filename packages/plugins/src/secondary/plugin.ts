/**
 * `secondary`: zones from primary servers.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { fallthroughZones, zonesOrBlock } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { readServerAddress } from '@portolan/corefile/directive/server-address.ts';
import { parseZones } from '@portolan/corefile/keys/zone-name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { ofKind } from '@portolan/kernel/contract/plugin.ts';
import { LOSSES, PLAN } from '@portolan/kernel/contract/services.ts';
import type { SocketAddress } from '@portolan/kernel/socket/addresses.ts';
import { Transfer } from '../transfer/transfer.ts';
import { readKeyName } from '../tsig/key-name.ts';
import { Tsig } from '../tsig/tsig.ts';
import type { SecondaryOptions, SecondaryZone } from './options.ts';
import { Secondary } from './secondary.ts';

const REMEDY = 'Name the primary servers, as in transfer from 192.0.2.53.';

/**
 * `secondary [ZONES…] { transfer from ADDRESS…; key NAME; catalog [ZONES…]; fallthrough [ZONES…] }`. Source: plugin/secondary of CoreDNS
 * 1.14.7, which has no `key`.
 */
export const secondary = definePlugin({
  name: 'secondary',
  answers: true,
  outlivesPlans: () => true,
  syntax: [
    'secondary [ZONES…] {',
    '    transfer from ADDRESS…',
    '    key NAME',
    '    catalog [ZONES…]',
    '    fallthrough [ZONES…]',
    '}',
  ],
  read(cursor, context): SecondaryOptions {
    const zones = new Map<NameKey, Omit<SecondaryZone, 'origin'>>();
    let fallthrough: readonly NameKey[] = [];
    cursor.eachUse(() => {
      const origins = zonesOrBlock(cursor.remainingArguments(), context);
      let primaries: readonly SocketAddress[] = [];
      let isNamed = false;
      let key: NameKey | undefined;
      let within: readonly NameKey[] | undefined;
      cursor.properties({
        transfer: () => {
          isNamed = true;
          primaries = [...primaries, ...readPrimaries(cursor)];
        },
        key: () => {
          key = readKeyName(cursor);
        },
        fallthrough: () => {
          fallthrough = fallthroughZones(cursor.remainingArguments());
        },
        catalog: () => {
          within = [...(within ?? []), ...readMembers(cursor)];
        },
      });
      if (!isNamed) throw cursor.error('secondary zones require a transfer from property', REMEDY);
      // Without a list of its own, a catalog may list all names of the block.
      const catalog = within && { within: within.length === 0 ? context.zones : within };
      for (const origin of origins) zones.set(origin, { primaries, key, ...(catalog && { catalog }) });
    });
    return { zones: [...zones].map(([origin, zone]) => ({ origin, ...zone })), fallthrough };
  },
  create(options, context, former) {
    const transfer = context.find(Transfer);
    const made = new Secondary(
      options,
      {
        ...context,
        ...context.use(PLAN),
        losses: context.use(LOSSES),
        chain: context.lookUp,
        onChange: (origin) => transfer?.notify(origin),
        keyNamed: (name) => context.find(Tsig)?.keyNamed(name),
      },
      ofKind(Secondary, former),
    );
    transfer?.add(made);
    return made;
  },
});

function readMembers(cursor: DirectiveCursor): readonly NameKey[] {
  return cursor.remainingArguments().flatMap((word) => {
    const zones = parseZones([word]);
    if (zones.length === 0)
      throw cursor.bareError(
        `invalid catalog member zone ${JSON.stringify(word)}`,
        'Name zones, as in example.org.',
      );
    return zones;
  });
}

function readPrimaries(cursor: DirectiveCursor): readonly SocketAddress[] {
  const word = cursor.requiredArgument();
  if (word !== 'from') throw cursor.error(`unknown property ${word}`, REMEDY);
  const words = cursor.remainingArguments();
  if (words.length === 0) throw cursor.argumentError(REMEDY);
  return words.map((each) => readServerAddress(cursor, each, REMEDY));
}
