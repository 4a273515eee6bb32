/**
 * Counts the sockets that share a port, those of other processes included. The source is the kernel's table of UDP
 * sockets: text with one line each, with local and remote addresses in hexadecimal.
 */
import { readFileSync } from 'node:fs';
import { encodeSocketAddress, type SocketAddress, toAddressFamily } from './addresses.ts';
import { AF_INET6, IPV4_AT, IPV6_AT } from './linux.ts';

const TABLE = { ipv4: '/proc/net/udp', ipv6: '/proc/net/udp6' } as const;

/**
 * Counts the UDP sockets of this network namespace that are bound to an address and port.
 *
 * @returns undefined if the kernel does not provide the table
 */
export function countPortSharers(endpoint: SocketAddress): number | undefined {
  const isIpv6 = toAddressFamily(endpoint.address) === AF_INET6;
  try {
    const table = readFileSync(isIpv6 ? TABLE.ipv6 : TABLE.ipv4, 'latin1');
    // A colon follows only the line number, so this matches the local address.
    return table.split(`: ${tableForm(endpoint, isIpv6)} `).length - 1;
  } catch {
    return undefined;
  }
}

/** The address (words in machine order) and the port, as the table has them. */
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
