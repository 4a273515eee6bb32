/**
 * How long a response may be: the one place that says so, for every transport.
 */

/** How a query came. Only UDP bounds its responses below the longest message there is. */
export type Transport = 'udp' | 'tcp' | 'tls' | 'https';

/** The longest message there is (RFC 1035 section 4.2.2). */
export const MAX_MESSAGE_OCTETS = 65_535;
/** What every UDP client takes (RFC 1035 section 4.2.1). */
export const MIN_UDP_SIZE = 512;
/** What fits through nearly every path without fragments (DNS flag day 2020). */
export const DEFAULT_UDP_SIZE = 1232;
/** The largest UDP size that a server may be set to: more would only help to attack others by amplification. */
export const MAX_UDP_SIZE = 4096;

/**
 * The octets that a response may have.
 *
 * @param offered the UDP size in the client's OPT record, 0 where there is none (below 512 it counts as 512, RFC 6891
 *   section 6.2.3)
 * @param maxUdpSize the server's own maximum for UDP, 512 to 4096
 */
export function maxResponseOctets(transport: Transport, offered: number, maxUdpSize: number): number {
  if (transport !== 'udp') return MAX_MESSAGE_OCTETS;
  return Math.max(MIN_UDP_SIZE, Math.min(offered, maxUdpSize));
}
