/**
 * Domain names in option values and in hosts files.
 *
 * dnsmasq accepts nearly every octet in a name and has no escapes. Names with capitals or non-ASCII letters become lower-case IDNA
 * names. An empty text is the root.
 */
import { domainToASCII, domainToUnicode } from 'node:url';
import { MAX_LABEL_OCTETS, MAX_NAME_OCTETS, textOfOctet } from '@portolan/dns/label.ts';
import { ROOT, tryParseKey } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { textOfOctets, unescapeText } from './octets.ts';
import type { OptionUse } from './option.ts';

export type NameReading =
  | { readonly kind: 'name'; readonly name: NameKey }
  /** dnsmasq accepts the name, but a query cannot contain it. */
  | { readonly kind: 'unaskable'; readonly why: string }
  | { readonly kind: 'bad'; readonly why: string };

/** The size of dnsmasq's name buffers in octets. */
const MAX_OCTETS = 1025;
/** Names without special cases: nearly all names. */
const PLAIN = /^(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?$/;

/** The text as a name if it is already canonical (the final dot may be missing); otherwise undefined. */
export function readPlainName(text: string): NameKey | undefined {
  if (text.length >= 250 || !PLAIN.test(text)) return undefined;
  return (text.endsWith('.') ? text : `${text}.`) as NameKey;
}

/** @param text octets, possibly with escaped characters */
export function readName(text: string): NameReading {
  const name = readPlainName(text);
  if (name !== undefined) return { kind: 'name', name };
  const plain = unescapeText(text);
  if (plain === '') return { kind: 'name', name: ROOT };
  const body = plain.endsWith('.') ? plain.slice(0, -1) : plain;
  const fault = findFault(body, plain.length, body !== plain);
  if (fault !== undefined) return { kind: 'bad', why: fault };
  const canonical = needsIdna(body) ? toIdna(body) : body;
  if (canonical === undefined)
    return { kind: 'bad', why: 'not a name that internationalized domain names allow' };
  if (canonical === '') return { kind: 'name', name: ROOT };
  return canonical.split('.').includes('')
    ? { kind: 'unaskable', why: 'it has an empty label' }
    : askable(escapeOctets(canonical));
}

/** @returns undefined for an invalid name, which is reported */
export function readNameFor(use: OptionUse, text: string): NameKey | undefined {
  const reading = readName(text);
  if (reading.kind === 'name') return reading.name;
  if (reading.kind === 'bad') use.refuse(reading.why, 'Give a domain name.', textOfOctets(text));
  else
    use.note(
      `No question can ask for ${JSON.stringify(textOfOctets(text))}, since ${reading.why}: it is left out.`,
    );
  return undefined;
}

function findFault(body: string, octets: number, endsInDot: boolean): string | undefined {
  if (octets > MAX_OCTETS) return `a name of more than ${MAX_OCTETS} octets`;
  if ([...body].some((character) => character < ' ' || character === '\x7f'))
    return 'a control character in a name';
  if (body.split('.').some((label) => label.length > MAX_LABEL_OCTETS))
    return 'a label of more than 63 octets';
  const hasSubstance = endsInDot || /[!-\-/-~]/.test(body);
  return hasSubstance ? undefined : 'a name without any character of ASCII';
}

function needsIdna(body: string): boolean {
  return /[A-Z\x80-\xff]/.test(body);
}

/**
 * Converts label by label. Plain ASCII labels keep all their characters. Encoded labels may contain only letters, digits, hyphens and
 * underscores.
 */
function toIdna(body: string): string | undefined {
  const labels = textOfOctets(body)
    .toLowerCase()
    .split('.')
    .map((label) => {
      if (label.startsWith('-') || label.endsWith('-')) return undefined;
      const isPlain = /^[ -~]*$/.test(label);
      if (isPlain && !label.startsWith('xn--')) return label.slice(2, 4) === '--' ? undefined : label;
      // Some releases of Node accept labels that decode to nothing.
      if (isPlain && /^[ -~]*$/.test(domainToUnicode(label))) return undefined;
      const ascii = /[ -,./:-^`{-~]/.test(label) ? '' : domainToASCII(label);
      return ascii === '' || ascii.length > MAX_LABEL_OCTETS ? undefined : ascii;
    });
  const name = labels.join('.');
  return labels.includes(undefined) || name.length >= MAX_NAME_OCTETS ? undefined : name;
}

/** @param text a name in presentation form */
function askable(text: string): NameReading {
  const name = tryParseKey(text);
  return name === undefined
    ? { kind: 'unaskable', why: 'it is longer than 255 octets' }
    : { kind: 'name', name };
}

function escapeOctets(name: string): string {
  return name.replace(/[^.]/g, (character) => textOfOctet(character.charCodeAt(0)));
}
