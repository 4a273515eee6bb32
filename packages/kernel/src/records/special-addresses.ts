/**
 * Addresses that no service can mean: those of the client's own machine, of its link, of all hosts of a group, and those at
 * which clouds tell a machine about itself. A tenant who lists one as an endpoint would name it for the whole cluster.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { matchRanges } from '@portolan/dns/address-range.ts';

const isSpecialRange = matchRanges([
  { address: '127.0.0.0', prefix: 8 },
  { address: '169.254.0.0', prefix: 16 },
  { address: '224.0.0.0', prefix: 4 },
  { address: '::1', prefix: 128 },
  { address: 'fe80::', prefix: 10 },
  { address: 'ff00::', prefix: 8 },
]);
/** Metadata services outside those ranges: Amazon, Google, Alibaba, Azure, Oracle. */
const METADATA = ['fd00:ec2::254', 'fd20:ce::254', '100.100.100.200', '168.63.129.16', '192.0.0.192'];
const isMetadata = matchRanges(
  METADATA.map((address) => ({ address, prefix: address.includes(':') ? 128 : 32 })),
);
const MAPPED = parseAddress('::ffff:0:0') ?? new Uint8Array(16);
const MAPPED_OCTETS = 12;

/** The first octets of special IPv4 addresses, so that most addresses need one look. */
const FIRST_OCTETS = new Set([100, 127, 168, 169, 192, ...Array.from({ length: 16 }, (_, low) => 224 + low)]);

/** The same of IPv6 addresses, mapped ones included. */
const FIRST_OCTETS_OF_IPV6 = new Set([0, 0xfd, 0xfe, 0xff]);

/** Whether the first octet suffices to say that an address is not special. @param length octets of the address */
export function isOrdinaryOctet(first: number, length: number): boolean {
  return !(length === 4 ? FIRST_OCTETS : FIRST_OCTETS_OF_IPV6).has(first);
}

/** @param address 4 or 16 octets */
export function isSpecialAddress(address: Uint8Array): boolean {
  const first = address[0] ?? 0;
  if (isOrdinaryOctet(first, address.length)) return false;
  if (address.length === 4) return isSpecialRange(address) || isMetadata(address);
  if (first === 0 && MAPPED.subarray(0, MAPPED_OCTETS).every((octet, index) => octet === address[index]))
    return isSpecialAddress(address.subarray(MAPPED_OCTETS));
  return isSpecialRange(address) || isMetadata(address);
}
