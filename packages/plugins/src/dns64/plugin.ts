/**
 * `dns64`: AAAA records made of A records.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseCidr } from '@portolan/corefile/directive/go-values.ts';
import type { AddressRange } from '@portolan/dns/address-range.ts';
import { createDns64Handler } from './dns64.ts';
import type { Dns64Options } from './options.ts';

const WELL_KNOWN: AddressRange = { address: '64:ff9b::', prefix: 96 };
const REMEDY = 'Give a prefix of IPv6 with 32, 40, 48, 56, 64 or 96 bits, as in 64:ff9b::/96.';

/** `dns64 [PREFIX] { prefix PREFIX; translate_all; allow_ipv4 }`. Source: plugin/dns64 of CoreDNS 1.14.7. */
export const dns64 = definePlugin({
  name: 'dns64',
  joinsBlocks: true,
  syntax: ['dns64 [PREFIX] {', '    prefix PREFIX', '    translate_all', '    allow_ipv4', '}'],
  read(cursor): Dns64Options {
    let prefix = WELL_KNOWN;
    let translatesAll = false;
    let servesIpv4 = false;
    cursor.eachUse(() => {
      const words = cursor.remainingArguments();
      if (words.length > 1) throw cursor.argumentError();
      if (words.length === 1) prefix = readPrefix(cursor);
      cursor.properties({
        prefix: () => {
          cursor.requiredArgument();
          prefix = readPrefix(cursor);
        },
        translate_all: () => {
          translatesAll = true;
        },
        allow_ipv4: () => {
          servesIpv4 = true;
        },
      });
    });
    return { prefix, translatesAll, servesIpv4 };
  },
  create: (options, { lookUp, metrics }) => ({ handler: createDns64Handler(options, lookUp, metrics) }),
});

function readPrefix(cursor: DirectiveCursor): AddressRange {
  const text = cursor.word;
  const range = cursor.bare(parseCidr(text), REMEDY);
  const shown = JSON.stringify(text);
  if (!range.address.includes(':')) throw cursor.error(`invalid netmask 32 IPv6 address: ${shown}`, REMEDY);
  if (range.prefix % 8 !== 0 || range.prefix < 32 || range.prefix > 96)
    throw cursor.error(`invalid prefix length ${shown}`, REMEDY);
  return range;
}
