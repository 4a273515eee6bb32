/**
 * An envelope: where a packet came from and which of our addresses it was sent to, as the octets that the kernel wrote and
 * takes back when the answer is sent.
 *
 *     0    the client's socket address (28)
 *     28   its length      29   the length of the control message, 0 if there is none
 *     32   the control message IP_PKTINFO (32) or IPV6_PKTINFO (40):
 *
 *          0   length (8)   8 level   12 type
 *          IPv4   16 interface   20 our address to answer from   24 the address in the packet
 *          IPv6   16 our address (16)   32 interface
 */
import { decodeSocketAddress, type SocketAddress } from './addresses.ts';
import { IPPROTO_IPV6 } from './linux.ts';

export const ENVELOPE = { NAME: 0, NAME_LENGTH: 28, CONTROL_LENGTH: 29, CONTROL: 32, OCTETS: 72 } as const;
/** Room for a socket address and a control message in packet memory. */
export const NAME_OCTETS = 32;
export const MOST_NAME_OCTETS = 28;
export const CONTROL_OCTETS = 40;

const LEVEL_WORD = 2;
const IPV4_INTERFACE_WORD = 4;
const IPV6_ADDRESS_WORD = 4;
const IPV6_INTERFACE_WORD = 8;

/** The client's address. */
export function clientOf(envelope: Uint8Array): SocketAddress {
  return decodeSocketAddress(envelope, ENVELOPE.NAME);
}

/**
 * Turns a received control message into one for sending: the address stays, the interface is left to routing, as the way
 * back may differ from the way in. Only a link-local address means nothing without its interface.
 *
 * @param word where the message begins in `words`
 */
export function readdressControl(words: Uint32Array, word: number): void {
  if (words[word + LEVEL_WORD] !== IPPROTO_IPV6) {
    words[word + IPV4_INTERFACE_WORD] = 0;
    return;
  }
  // fe80::/10, of a little-endian word.
  if (((words[word + IPV6_ADDRESS_WORD] ?? 0) & 0xc0ff) !== 0x80fe) words[word + IPV6_INTERFACE_WORD] = 0;
}
