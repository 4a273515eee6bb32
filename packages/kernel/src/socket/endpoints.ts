/**
 * The two endpoints of a UDP packet, in few words of shared memory: the part of an envelope that a query log needs.
 *
 *     word 0   the client's port | 1 << 16 for IPv6
 *     word 1   the client's address (1 word, or 4), then ours (likewise; 0 if it is unknown, or of the other family)
 *
 * Addresses are octets in network order, as in the kernel's structures.
 */
import { ENVELOPE } from './envelope.ts';
import { AF_INET6, IPPROTO_IPV6 } from './linux.ts';

/** Words of the two endpoints, by family. */
export const ENDPOINT_WORDS = { IPV4: 3, IPV6: 9 } as const;
export const ENDPOINTS_ARE_IPV6 = 1 << 16;

const IPV4_ADDRESS = 1;
const IPV6_ADDRESS = 2;
const IPV4_OURS = 5;
const IPV6_OURS = 4;
const LEVEL = 2;

/**
 * @param name the word of `source` with the start of the client's socket address
 * @param control the word with the start of the control message; negative without one
 * @returns words written to `target` from `at` on, one of `ENDPOINT_WORDS`
 */
export function writeEndpoints(
  source: Uint32Array,
  name: number,
  control: number,
  target: Uint32Array,
  at: number,
): number {
  const first = source[name] ?? 0;
  const port = ((first >>> 8) & 0xff00) | (first >>> 24);
  const isIpv6 = (first & 0xffff) === AF_INET6;
  // A proxy may have told a client of the other family.
  const hasOurs = control >= 0 && (source[control + LEVEL] === IPPROTO_IPV6) === isIpv6;
  if (!isIpv6) {
    target[at] = port;
    target[at + 1] = source[name + IPV4_ADDRESS] ?? 0;
    target[at + 2] = hasOurs ? (source[control + IPV4_OURS] ?? 0) : 0;
    return ENDPOINT_WORDS.IPV4;
  }
  target[at] = port | ENDPOINTS_ARE_IPV6;
  for (let word = 0; word < 4; word++) {
    target[at + 1 + word] = source[name + IPV6_ADDRESS + word] ?? 0;
    target[at + 5 + word] = hasOurs ? (source[control + IPV6_OURS + word] ?? 0) : 0;
  }
  return ENDPOINT_WORDS.IPV6;
}

/** The same from an envelope in memory that begins at a multiple of 4 octets. */
export function writeEnvelopeEndpoints(envelope: Uint8Array, target: Uint32Array, at: number): number {
  const words = new Uint32Array(envelope.buffer, envelope.byteOffset, ENVELOPE.OCTETS / 4);
  const hasControl = envelope[ENVELOPE.CONTROL_LENGTH] !== 0;
  return writeEndpoints(words, 0, hasControl ? ENVELOPE.CONTROL / 4 : -1, target, at);
}
