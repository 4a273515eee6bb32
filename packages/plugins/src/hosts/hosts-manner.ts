/**
 * How CoreDNS reads hosts files. Lines without an address and a name, and words that are no names, are ignored without a word.
 */
import { parseAddress, unmapAddress } from '@portolan/dns/address.ts';
import { encodeName, tryParseKey } from '@portolan/dns/name.ts';
import type { HostsManner } from '@portolan/sources/hosts/hosts-manner.ts';

export const COREDNS_HOSTS: HostsManner = {
  readAddress,
  readName(word) {
    const name = tryParseKey(word);
    return name === undefined
      ? { kind: 'other', warning: undefined }
      : { kind: 'name', name: encodeName(name) };
  },
  words: 'text',
  reportsAddresses: false,
  // A folder has no names.
  isHostsFile: () => false,
};

/** Converts an IPv4-mapped IPv6 address to IPv4, and drops the zone of an interface. */
function readAddress(word: string): Uint8Array | undefined {
  const octets = parseAddress(word.split('%', 1)[0] ?? word);
  return octets && unmapAddress(octets);
}
