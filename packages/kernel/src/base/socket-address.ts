/**
 * How messages, URLs and metrics write the address of a server or a client.
 */

/** A host as it stands before a port: `192.0.2.1`, `dns.example`, `[2001:db8::1]` (RFC 3986 section 3.2.2). */
export function formatHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** `192.0.2.1:53`, `[2001:db8::1]:53`. */
export function formatSocketAddress({
  address,
  port,
}: {
  readonly address: string;
  readonly port: number;
}): string {
  return `${formatHost(address)}:${port}`;
}
