/**
 * Addresses that mean something different in every network (RFC 6303), and their names in the reverse tree.
 *
 * The lists are dnsmasq's: what it keeps from being asked outside, and what it lets no answer from outside contain.
 */
import { parseAddress } from '../../wire/address.ts';
import type { NameKey } from '../../wire/types.ts';

interface Network {
  readonly octets: Uint8Array;
  readonly prefix: number;
}

const network = (address: string, prefix: number): Network => ({
  octets: parseAddress(address) ?? new Uint8Array(),
  prefix,
});

const THIS_NETWORK = network('0.0.0.0', 8);
const LOOPBACK = network('127.0.0.0', 8);

const PRIVATE: readonly Network[] = [
  network('10.0.0.0', 8),
  network('172.16.0.0', 12),
  network('192.168.0.0', 16),
  network('169.254.0.0', 16),
  network('192.0.2.0', 24),
  network('198.51.100.0', 24),
  network('203.0.113.0', 24),
  network('255.255.255.255', 32),
  network('fe80::', 10),
  network('fec0::', 10),
  network('fd00::', 8),
  network('2001:db8::', 32),
];

const LOCAL: readonly Network[] = [THIS_NETWORK, LOOPBACK, network('::', 128), network('::1', 128)];

const MAPPED_PREFIX = network('::ffff:0:0', 96);

/** @param octets 4 or 16 @param includesLocal whether the loopback and unspecified addresses count */
export function isPrivate(octets: Uint8Array, includesLocal: boolean): boolean {
  const plain = isIn(octets, MAPPED_PREFIX) ? octets.subarray(12) : octets;
  const isOf = (each: Network) => isIn(plain, each);
  return PRIVATE.some(isOf) || (includesLocal && LOCAL.some(isOf));
}

export function isLoopback(octets: Uint8Array): boolean {
  return isIn(octets, LOOPBACK) || isIn(octets, network('::1', 128));
}

function isIn(octets: Uint8Array, { octets: own, prefix }: Network): boolean {
  if (octets.length !== own.length) return false;
  const whole = prefix >> 3;
  for (let index = 0; index < whole; index += 1) if (octets[index] !== own[index]) return false;
  const mask = (0xff00 >> (prefix & 7)) & 0xff;
  return (((octets[whole] ?? 0) ^ (own[whole] ?? 0)) & mask) === 0;
}

/**
 * The address of a name in the reverse tree; where the name is that of a network, its missing octets are zero.
 *
 * @returns 4 or 16 octets; nothing for other names
 */
export function octetsOfReverseName(name: NameKey): Uint8Array | undefined {
  if (name.endsWith('.in-addr.arpa.')) {
    const parts = name.slice(0, -'.in-addr.arpa.'.length).split('.').reverse();
    if (parts.length > 4) return undefined;
    return parseAddress([...parts, '0', '0', '0'].slice(0, 4).join('.'));
  }
  if (!name.endsWith('.ip6.arpa.')) return undefined;
  const digits = name.slice(0, -'.ip6.arpa.'.length).split('.').reverse();
  if (digits.length > 32 || !digits.every((digit) => /^[0-9a-f]$/.test(digit))) return undefined;
  return Uint8Array.from(Buffer.from(digits.join('').padEnd(32, '0'), 'hex'));
}
