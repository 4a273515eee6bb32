/**
 * Servers in kube-dns's format: `address` or `address:port`; stub domains also accept a name, without a port.
 *
 * Only plain DNS: kube-dns has neither other transports nor source addresses.
 */
import { formatAddress, parseAddress } from '@portolan/dns/address.ts';
import type { UpstreamAddress, UpstreamHost } from '@portolan/kernel/forward/upstream-address.ts';
import { isDns1123Subdomain } from '@portolan/kubernetes/names/name-rules.ts';
import { readDomain } from './domain.ts';

const DNS_PORT = 53;

/** A server of `upstreamNameservers` and `--nameservers`; undefined if invalid. */
export function readNameserver(text: string): UpstreamAddress | undefined {
  const { host, port } = splitHostPort(text) ?? { host: text, port: String(DNS_PORT) };
  const isBare = parseAddress(text) !== undefined;
  const address = parseAddress(isBare ? text : host);
  const number = isBare ? DNS_PORT : readPort(port);
  if (address === undefined || number === undefined) return undefined;
  return serverAt({ kind: 'address', address: formatAddress(address) }, number);
}

/** A server of a stub domain; undefined if invalid. */
export function readStubServer(text: string): UpstreamAddress | undefined {
  const { host, port } = splitHostPort(text) ?? { host: text, port: '' };
  const number = port === '' ? DNS_PORT : readPort(port);
  const address = parseAddress(host.includes(':') ? host : withoutLeadingZeros(host));
  if (address !== undefined && number !== undefined)
    return serverAt({ kind: 'address', address: formatAddress(address) }, number);
  const name = isDns1123Subdomain(text) ? readDomain(text) : undefined;
  return name && serverAt({ kind: 'name', name }, DNS_PORT);
}

function serverAt(host: UpstreamHost, port: number): UpstreamAddress {
  const serverName = host.kind === 'name' ? host.name.slice(0, -1) : undefined;
  return { transport: 'udp', host, port, serverName, source: undefined };
}

/** Splits as Go's `net.SplitHostPort` does: IPv6 addresses need brackets, and the colon is required. */
function splitHostPort(text: string): { readonly host: string; readonly port: string } | undefined {
  const match = /^(?:\[([^\][]*)\]|([^:\][]*)):([^:\][]*)$/.exec(text);
  return match === null ? undefined : { host: match[1] ?? match[2] ?? '', port: match[3] ?? '' };
}

function readPort(text: string): number | undefined {
  const port = /^\+?\d{1,10}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

/** The API server reads `010.0.0.1` as 10.0.0.1. */
function withoutLeadingZeros(host: string): string {
  return host.replace(/(^|\.)0+(?=\d)/g, '$1');
}
