/**
 * Zone names in a Corefile.
 */
import { tryParseKey } from '@portolan/dns/name.ts';
import { toOctetRange } from '@portolan/dns/range-map.ts';
import { splitIntoReverseZones } from '@portolan/dns/reverse-zones.ts';
import type { NameKey } from '@portolan/dns/types.ts';

/** Zones with their port, or why the text is not a zone. */
export type HostPort =
  | { readonly kind: 'good'; readonly zones: readonly string[]; readonly port: string }
  | { readonly kind: 'bad'; readonly fault: string };

/** The maximum octets of a name. CoreDNS measures the text, escapes included. */
const MAX_TEXT_OCTETS = 255;

/** Splits `zone[:port]`; an address range becomes all its reverse zones. */
export function splitHostPort(text: string): HostPort {
  const colon = text.lastIndexOf(':');
  if (colon === text.length - 1)
    return { kind: 'bad', fault: `expecting data after last colon: ${quoteGo(text)}` };
  const digits = colon < 0 ? undefined : /^[+-]?\d{1,18}$/.exec(text.slice(colon + 1))?.[0];
  const port = digits === undefined ? '' : String(Number(digits));
  const zone = digits === undefined ? text : text.slice(0, colon);
  const octets = Buffer.byteLength(zone);
  if (octets > MAX_TEXT_OCTETS)
    return { kind: 'bad', fault: `specified zone is too long: ${octets} > ${MAX_TEXT_OCTETS}` };
  if (!isDomainName(zone)) return { kind: 'bad', fault: `zone is not a valid domain name: ${zone}` };
  // As in Go, a prefix length has no leading zeros.
  const [, address = '', prefix = ''] = /^([0-9a-fA-F:.]+)\/(0|[1-9]\d{0,2})$/.exec(zone) ?? [];
  const range = toOctetRange({ address, prefix: Number(prefix) });
  if (range === undefined) return { kind: 'good', zones: [zone], port };
  if (zone.startsWith(':') || (zone.startsWith('0') && zone.includes(':')))
    return { kind: 'bad', fault: `invalid CIDR ${zone}` };
  return { kind: 'good', zones: splitIntoReverseZones(range), port };
}

/** Quotes a text as Go's `%q` does. */
export function quoteGo(text: string): string {
  return JSON.stringify(text);
}

/** Whether the text is a name. Any octet is allowed; characters beyond ASCII count as their UTF-8 octets. */
export function isDomainName(text: string): boolean {
  return parseZone(text) !== undefined;
}

/** The name in lower case; undefined if the text is not a name. */
export function parseZone(text: string): NameKey | undefined {
  return tryParseKey(escapeOctets(text));
}

/** Formats a name for messages: lower case, with a final dot. */
export function normalizeName(text: string): string {
  const isAbsolute = /(?:^|[^\\])(?:\\\\)*\.$/.test(text);
  return (isAbsolute ? text : `${text}.`).toLowerCase();
}

/** Escapes the characters that `parseName` requires as `\DDD`. */
function escapeOctets(text: string): string {
  // All characters except visible ASCII.
  return text.replace(/[^\x21-\x7e]/gu, (character) =>
    [...Buffer.from(character)].map((octet) => `\\${String(octet).padStart(3, '0')}`).join(''),
  );
}

/** @returns the zones of the arguments, with ranges split; invalid arguments are ignored, as in CoreDNS */
export function parseZones(words: readonly string[]): readonly NameKey[] {
  return words.flatMap((word) => {
    const split = splitHostPort(splitScheme(word).rest);
    return split.kind === 'bad' ? [] : split.zones.flatMap((zone) => parseZone(zone) ?? []);
  });
}

export const SCHEMES = ['dns', 'tls', 'quic', 'grpc', 'https', 'https3'] as const;
export type Scheme = (typeof SCHEMES)[number];

/** Splits off a known scheme before `://`; any other text belongs to the zone. */
export function splitScheme(text: string): { readonly scheme: Scheme; readonly rest: string } {
  const scheme = SCHEMES.find((known) => text.startsWith(`${known}://`));
  return scheme === undefined
    ? { scheme: 'dns', rest: text }
    : { scheme, rest: text.slice(scheme.length + 3) };
}

const REVERSE_ROOTS = ['in-addr.arpa.', 'ip6.arpa.'];

/** Whether a zone is below a root of the reverse tree; the roots themselves count as forward zones. */
export function isReverseZone(zone: string): boolean {
  return REVERSE_ROOTS.some((root) => zone.endsWith(`.${root}`));
}
