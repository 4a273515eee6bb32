/**
 * An envelope: the client of a packet, its sender if that is a proxy, and the local address that it was sent to. It holds the octets
 * as the kernel wrote them and accepts them back with the answer.
 *
 *     0    the client's socket address (28)
 *     28   its length      29   the length of the control message, 0 without one
 *     30   the length of the sender's socket address, 0 if the sender is the client
 *     32   the control message IP_PKTINFO (32) or IPV6_PKTINFO (40):
 *
 *          0   length (8)   8 level   12 type
 *          IPv4   16 interface   20 our address to answer from   24 the address in the packet
 *          IPv6   16 our address (16)   32 interface
 *
 *     72   the sender's socket address (28), which answers go to
 */
import { decodeSocketAddress, type SocketAddress } from './addresses.ts';
import { IPPROTO_IPV6 } from './linux.ts';

export const ENVELOPE = {
  NAME: 0,
  NAME_LENGTH: 28,
  CONTROL_LENGTH: 29,
  SENDER_LENGTH: 30,
  CONTROL: 32,
  SENDER: 72,
  OCTETS: 104,
} as const;
/** Octets of the longest socket address, and of the longest control message, that the kernel writes. */
export const MAX_NAME_OCTETS = 28;
export const CONTROL_OCTETS = 40;

const LEVEL_WORD = 2;
const IPV4_INTERFACE_WORD = 4;
const IPV6_ADDRESS_WORD = 4;
const IPV6_INTERFACE_WORD = 8;

const ADDRESS_START = 4;
const ADDRESS_END = 24;

/**
 * A hash of the client's address without the port and the zone, to tell clients apart.
 *
 * @param at where the envelope begins in `octets`
 * @param seed drawn at random, so that clients cannot choose addresses of the same hash
 * @returns 32 bits, as a signed number
 */
export function hashClient(octets: Uint8Array, at: number, seed: number): number {
  const end = at + Math.min(octets[at + ENVELOPE.NAME_LENGTH] ?? 0, ADDRESS_END);
  let hash = seed;
  for (let octet = at + ADDRESS_START; octet < end; octet++) {
    hash = Math.imul(hash ^ (octets[octet] ?? 0), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

/** The client's address. */
export function readClient(envelope: Uint8Array): SocketAddress {
  return decodeSocketAddress(envelope, ENVELOPE.NAME);
}

/**
 * Turns a received control message into one for sending. It keeps the address and leaves the interface to routing,
 * since the way back may differ. Only a link-local address needs its interface.
 *
 * @param word where the message begins in `words`
 */
export function readdressControl(words: Uint32Array, word: number): void {
  if (words[word + LEVEL_WORD] !== IPPROTO_IPV6) {
    words[word + IPV4_INTERFACE_WORD] = 0;
    return;
  }
  // fe80::/10, read from a little-endian word.
  if (((words[word + IPV6_ADDRESS_WORD] ?? 0) & 0xc0ff) !== 0x80fe) words[word + IPV6_INTERFACE_WORD] = 0;
}
