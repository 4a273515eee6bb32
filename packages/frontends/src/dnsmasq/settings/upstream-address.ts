/**
 * Parses upstream servers: `ADDRESS[%ZONE][#PORT][@INTERFACE][@SOURCE[#PORT]]`, or a host name instead of the address.
 */
import type {
  QuerySource,
  UpstreamAddress,
  UpstreamHost,
} from '@portolan/kernel/forward/upstream-address.ts';
import { isIpv6, readAddress } from './addresses.ts';
import { readName } from './names.ts';
import { PORT, parseDigits } from './numbers.ts';
import { textOfOctets } from './octets.ts';
import { cut } from './pieces.ts';

export type UpstreamReading =
  | { readonly kind: 'server'; readonly server: UpstreamAddress }
  | { readonly kind: 'bad'; readonly fault: string; readonly value: string };

/** The default port of DNS. */
const DNS_PORT = 53;
/** Host names (RFC 1123 section 2.1), and underscores, which resolvers accept. */
const HOST_NAME = /^(?:[a-z0-9_][a-z0-9_-]*\.)+$/;

/** @param text without escaped characters */
export function readUpstreamAddress(text: string): UpstreamReading {
  const [before, behindAt] = cut(text, '@');
  const [sourceText, sourcePortText] = behindAt === undefined ? [undefined, undefined] : cut(behindAt, '#');
  const sourcePort = readPort(sourcePortText, 0);
  if (sourcePort === undefined) return bad('not a port', sourcePortText);
  const [hostText, portText] = cut(before, '#');
  const port = readPort(portText, DNS_PORT);
  if (port === undefined) return bad('not a port', portText);
  const host = readHost(hostText);
  if (host === undefined) return bad('neither an IP address nor the name of a host', hostText);
  const source = sourceText === undefined ? undefined : readSource(sourceText, sourcePort);
  if (source?.kind === 'bad') return source;
  const address = source?.source.address;
  if (host.kind === 'address' && address !== undefined && isIpv6(address) !== isIpv6(host.address))
    return bad('a source address of another family than the server', sourceText);
  const server = { transport: 'udp', host, port, serverName: undefined, source: source?.source } as const;
  return { kind: 'server', server };
}

function readPort(text: string | undefined, otherwise: number): number | undefined {
  const port = text === undefined ? otherwise : parseDigits(text);
  return port === undefined || port > PORT.max ? undefined : port;
}

function readHost(text: string): UpstreamHost | undefined {
  const [addressText, zone] = cut(text, '%');
  const address = readAddress(addressText);
  if (address !== undefined) {
    const scope = isIpv6(address) ? textIfAny(zone) : undefined;
    return { kind: 'address', address: scope === undefined ? address : `${address}%${scope}` };
  }
  const reading = readName(addressText);
  if (reading.kind !== 'name' || !HOST_NAME.test(reading.name)) return undefined;
  // Reject short address forms such as `127.1`, which the system's resolver would take as addresses.
  return /^[\d.]*$/.test(reading.name) ? undefined : { kind: 'name', name: reading.name };
}

/** One word is a source address or an interface; two words are an interface and an address. */
function readSource(
  text: string,
  port: number,
): { readonly kind: 'source'; readonly source: QuerySource } | Extract<UpstreamReading, { kind: 'bad' }> {
  const [first, second] = cut(text, '@');
  const address = readAddress(second ?? first);
  if (second !== undefined && address === undefined)
    return bad('not the address of an interface, which can be named only once', second);
  const name = second === undefined && address !== undefined ? undefined : textIfAny(first);
  // With port 0 the system chooses.
  return { kind: 'source', source: { address, port: port === 0 ? undefined : port, device: name } };
}

function textIfAny(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : textOfOctets(text);
}

function bad(fault: string, value: string | undefined): Extract<UpstreamReading, { kind: 'bad' }> {
  return { kind: 'bad', fault, value: textOfOctets(value ?? '') };
}
