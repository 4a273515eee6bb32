/**
 * The maximum length of a response: the only place that computes it, for every transport.
 */

/** The transport of a query. Only UDP limits responses below the longest message. */
export type ClientTransport = 'udp' | 'tcp' | 'tls' | 'https';

/** The longest possible message (RFC 1035 section 4.2.2). */
export const MAX_MESSAGE_OCTETS = 65_535;
/** The size that every UDP client accepts (RFC 1035 section 4.2.1). */
export const MIN_UDP_SIZE = 512;
/** The size that nearly every path carries without fragments (DNS flag day 2020). */
export const DEFAULT_UDP_SIZE = 1232;
/** The maximum of a server's UDP size: more would only help amplification attacks. */
export const MAX_UDP_SIZE = 4096;

/**
 * The maximum octets of a response.
 *
 * @param offered the UDP size in the client's OPT record, 0 without one (below 512 it counts as 512, RFC 6891
 *   section 6.2.3)
 * @param maxUdpSize the server's own maximum for UDP, 512 to 4096
 */
export function maxResponseOctets(transport: ClientTransport, offered: number, maxUdpSize: number): number {
  if (transport !== 'udp') return MAX_MESSAGE_OCTETS;
  return Math.max(MIN_UDP_SIZE, Math.min(offered, maxUdpSize));
}
