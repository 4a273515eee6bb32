/**
 * How many sockets share a port, those of other processes included: from the kernel's table of UDP sockets, a text of one line for
 * each, with the local and the remote address in hexadecimal digits.
 */
import { readFileSync } from 'node:fs';
import { encodeSocketAddress, familyOf, type SocketAddress } from './addresses.ts';
import { AF_INET6 } from './linux.ts';

const TABLE = { ipv4: '/proc/net/udp', ipv6: '/proc/net/udp6' } as const;
const IPV4_AT = 4;
const IPV6_AT = 8;

/**
 * Counts the UDP sockets of this network namespace that are bound to an address and port.
 *
 * @returns undefined where the kernel does not say
 */
export function countPortSharers(endpoint: SocketAddress): number | undefined {
  const isIpv6 = familyOf(endpoint.address) === AF_INET6;
  try {
    const table = readFileSync(isIpv6 ? TABLE.ipv6 : TABLE.ipv4, 'latin1');
    // The number of the line comes first, so this is the local address.
    return table.split(`: ${tableForm(endpoint, isIpv6)} `).length - 1;
  } catch {
    return undefined;
  }
}

/** The words of an address as the machine reads them, and the port. */
function tableForm(endpoint: SocketAddress, isIpv6: boolean): string {
  const encoded = encodeSocketAddress(endpoint);
  const view = new DataView(encoded.buffer, encoded.byteOffset + (isIpv6 ? IPV6_AT : IPV4_AT));
  const words = Array.from({ length: isIpv6 ? 4 : 1 }, (_, word) =>
    digits(view.getUint32(word * 4, true), 8),
  );
  return `${words.join('')}:${digits(endpoint.port, 4)}`;
}

function digits(value: number, count: number): string {
  return value.toString(16).padStart(count, '0').toUpperCase();
}
