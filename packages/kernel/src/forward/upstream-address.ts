/**
 * Upstream servers as users write them: in dnsmasq's options, in a Corefile, in kube-dns's ConfigMap, in resolv.conf.
 *
 *     192.0.2.1   192.0.2.1#5353   192.0.2.1:5353   [2001:db8::1]:53   2001:db8::1#53   fe80::1%eth0   dns.example#53
 *     tcp://192.0.2.1          only TCP
 *     tls://192.0.2.1:853#dns.example      DNS over TLS (RFC 7858) with the certificate of dns.example
 *     https://192.0.2.1#dns.example        DNS over HTTPS (RFC 8484), by POST to /dns-query, with that certificate
 *     192.0.2.1@10.0.0.1#4000  192.0.2.1@eth1@10.0.0.1      sent from an address (and port), or from an interface's address
 */
import { formatAddress, parseAddress } from '@portolan/dns/address.ts';
import { tryParseName } from '@portolan/dns/name.ts';
import type { AbsoluteName } from '@portolan/dns/types.ts';
import { formatSocketAddress } from '../base/socket-address.ts';

/** A name must be resolved through this server first. */
export type UpstreamHost =
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'name'; readonly name: AbsoluteName };

/** The source of queries to a server; undefined fields are the system's choice. */
export interface QuerySource {
  readonly address: string | undefined;
  /** 1 to 65535. */
  readonly port: number | undefined;
  /** An interface, whose address is used if `address` is undefined. */
  readonly device: string | undefined;
}

export interface UpstreamAddress {
  /** `udp` falls back to TCP for truncated replies. */
  readonly transport: 'udp' | 'tcp' | 'tls' | 'https';
  readonly host: UpstreamHost;
  /** 1 to 65535. */
  readonly port: number;
  /** The name that a TLS certificate must have; undefined: the address itself. */
  readonly serverName: string | undefined;
  readonly source: QuerySource | undefined;
}

export class UpstreamAddressError extends Error {
  override readonly name = 'UpstreamAddressError';
  readonly text: string;

  constructor(text: string, what: string) {
    super(
      `not an upstream server, ${what}: ${JSON.stringify(text.slice(0, 300))}; ` +
        'write ADDRESS, ADDRESS#PORT, ADDRESS:PORT, [IPV6]:PORT, tls://ADDRESS#NAME or https://ADDRESS#NAME',
    );
    this.text = text;
  }
}

const DEFAULT_PORT = { udp: 53, tcp: 53, tls: 853, https: 443 } as const;
const SCHEMES: ReadonlyMap<string, UpstreamAddress['transport']> = new Map([
  ['dns', 'udp'],
  ['udp', 'udp'],
  ['tcp', 'tcp'],
  ['tls', 'tls'],
  ['https', 'https'],
]);
/** `host`, `host:port`, `[host]:port`, `host#port`; the host may be IPv6 without brackets. */
const SERVER = /^(?:\[([^\]]*)\]|([^[\]#]*?))(?:[#:]([^#:]*))?$/;
/** Characters of host names (RFC 1123 section 2.1), and underscores, which some have. */
const HOST_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;
/** The interface names that the kernel accepts. */
const DEVICE = /^[^\s/%:]{1,15}$/;

/** @throws UpstreamAddressError */
export function parseUpstream(text: string): UpstreamAddress {
  const scheme = /^([a-z]+):\/\//i.exec(text);
  const transport = scheme === null ? 'udp' : SCHEMES.get((scheme[1] ?? '').toLowerCase());
  if (transport === undefined)
    throw new UpstreamAddressError(text, 'a scheme that is not dns, tcp, tls or https');
  const [server = '', ...sources] = text.slice(scheme?.[0].length ?? 0).split('@');
  const hash = isEncrypted({ transport }) ? server.indexOf('#') : -1;
  const place = parsePlace(text, hash < 0 ? server : server.slice(0, hash));
  return {
    transport,
    host: place.host,
    port: place.port ?? DEFAULT_PORT[transport],
    serverName: hash < 0 ? hostAsServerName(place.host) : parseServerName(text, server.slice(hash + 1)),
    source: sources.length === 0 ? undefined : parseSource(text, sources),
  };
}

export function isEncrypted({ transport }: Pick<UpstreamAddress, 'transport'>): boolean {
  return transport === 'tls' || transport === 'https';
}

function hostAsServerName(host: UpstreamHost): string | undefined {
  return host.kind === 'name' ? host.name.slice(0, -1) : undefined;
}

function parsePlace(text: string, server: string): { host: UpstreamHost; port: number | undefined } {
  // Several colons without brackets: IPv6, whose port must follow a `#`.
  const isBareIpv6 = !server.startsWith('[') && server.indexOf(':') !== server.lastIndexOf(':');
  if (isBareIpv6) {
    const [address = '', port, ...more] = server.split('#');
    if (more.length > 0) throw new UpstreamAddressError(text, 'more than one port');
    return { host: parseHost(text, address), port: port === undefined ? undefined : parsePort(text, port) };
  }
  const match = SERVER.exec(server);
  if (match === null) throw new UpstreamAddressError(text, 'unbalanced brackets or more than one port');
  const [, bracketed, plain, port] = match;
  if (bracketed !== undefined && !bracketed.includes(':'))
    throw new UpstreamAddressError(text, 'brackets around what is no IPv6 address');
  return {
    host: parseHost(text, bracketed ?? plain ?? ''),
    port: port === undefined ? undefined : parsePort(text, port),
  };
}

function parsePort(text: string, port: string): number {
  const value = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  if (value < 1 || value > 65_535) throw new UpstreamAddressError(text, 'a port that is not 1 to 65535');
  return value;
}

function parseHost(text: string, host: string): UpstreamHost {
  if (host === '') throw new UpstreamAddressError(text, 'no address');
  const address = parseScopedAddress(host);
  if (address !== undefined) return { kind: 'address', address };
  // Digits and dots that are not an address are a typing error, not a name.
  if (host.includes(':') || host.includes('%') || /^[\d.]*\d[\d.]*$/.test(host))
    throw new UpstreamAddressError(text, 'a malformed address');
  const name = HOST_NAME.test(host) ? tryParseName(host) : undefined;
  if (name === undefined) throw new UpstreamAddressError(text, 'neither an address nor a name');
  return { kind: 'name', name };
}

/** The canonical text of an address, with the interface of a link-local one; undefined if it is not an address. */
export function parseScopedAddress(text: string): string | undefined {
  const percent = text.indexOf('%');
  const octets = parseAddress(percent < 0 ? text : text.slice(0, percent));
  if (octets === undefined) return undefined;
  if (percent < 0) return formatAddress(octets);
  const scope = text.slice(percent + 1);
  return octets.length === 16 && DEVICE.test(scope) ? `${formatAddress(octets)}%${scope}` : undefined;
}

function parseServerName(text: string, name: string): string {
  if (parseAddress(name) !== undefined) return name;
  const parsed = tryParseName(name);
  if (parsed === undefined) throw new UpstreamAddressError(text, 'no name behind #');
  return parsed.slice(0, -1);
}

function parseSource(text: string, sources: readonly string[]): QuerySource {
  const [first = '', second] = sources;
  if (sources.length > 2)
    throw new UpstreamAddressError(text, 'more than an interface and an address behind @');
  if (second !== undefined) return { ...parseSourceAddress(text, second), device: parseDevice(text, first) };
  const isAddress = parseScopedAddress(first.split('#')[0] ?? '') !== undefined;
  if (isAddress) return { ...parseSourceAddress(text, first), device: undefined };
  return { address: undefined, port: undefined, device: parseDevice(text, first) };
}

function parseSourceAddress(text: string, source: string): { address: string; port: number | undefined } {
  const [host = '', port, ...more] = source.split('#');
  const address = parseScopedAddress(host);
  if (address === undefined || more.length > 0)
    throw new UpstreamAddressError(text, 'a source that is no address');
  return { address, port: port === undefined ? undefined : parsePort(text, port) };
}

function parseDevice(text: string, device: string): string {
  if (!DEVICE.test(device)) throw new UpstreamAddressError(text, 'a source that is no address or interface');
  return device;
}

/** The canonical text of an upstream, for logs and metrics: `192.0.2.1:53`, `[2001:db8::1]:53`, `tls://192.0.2.1:853#dns.example`. */
export function formatUpstream({ transport, host, port, serverName, source }: UpstreamAddress): string {
  const place = host.kind === 'name' ? host.name.slice(0, -1) : host.address;
  const scheme = transport === 'udp' ? '' : `${transport}://`;
  const server = `${scheme}${formatSocketAddress({ address: place, port })}`;
  const name = isEncrypted({ transport }) && serverName !== undefined ? `#${serverName}` : '';
  return `${server}${name}${source === undefined ? '' : formatSource(source)}`;
}

function formatSource({ address, port, device }: QuerySource): string {
  const from = address === undefined ? '' : `@${address}${port === undefined ? '' : `#${port}`}`;
  return `${device === undefined ? '' : `@${device}`}${from}`;
}
