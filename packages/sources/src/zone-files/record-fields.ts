/**
 * Reads record data from words: the fields of each type, and the format of each field.
 *
 * Data is converted to wire form and parsed from there, so that each type has only one parser. Any type may use the form of
 * RFC 3597: `\# LENGTH HEX`.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { parseType, typeName } from '@portolan/dns/mnemonics.ts';
import { encodeName } from '@portolan/dns/name.ts';
import { OctetReader } from '@portolan/dns/octet-reader.ts';
import { readData } from '@portolan/dns/record-data.ts';
import { encodeTypeBitmap } from '@portolan/dns/signed-records.ts';
import type { AbsoluteName, RecordData } from '@portolan/dns/types.ts';
import { WireError } from '@portolan/dns/wire-error.ts';
import { ZoneFileFault, type ZoneWord } from './entries.ts';
import { encodeHostIdentity, encodeIpsecKey, encodeRelay } from './gateways.ts';
import { encodeLocation } from './location.ts';
import { encodeParameters } from './service-parameters.ts';
import {
  encodeAddress,
  encodeBase64,
  encodeHex,
  missingField,
  readName,
  readNumber,
  readOctets,
  readSeconds,
} from './word-values.ts';

/** Fields by type, in order. Fields that take all remaining words are last. */
const FIELDS: ReadonlyMap<string, string> = new Map<string, string>([
  ['A', 'ipv4'],
  ['AAAA', 'ipv6'],
  ['AFSDB', 'uint16 name'],
  ['AMTRELAY', 'relay'],
  ['APL', 'prefixes'],
  ['AVC', 'texts'],
  ['CAA', 'uint8 string text'],
  ['CDNSKEY', 'uint16 uint8 algorithm base64'],
  ['CDS', 'uint16 algorithm uint8 hex'],
  ['CERT', 'certificate uint16 algorithm base64'],
  ['CNAME', 'name'],
  ['CSYNC', 'uint32 uint16 types'],
  ['DHCID', 'base64'],
  ['DLV', 'uint16 algorithm uint8 hex'],
  ['DNAME', 'name'],
  ['DNSKEY', 'uint16 uint8 algorithm base64'],
  ['DS', 'uint16 algorithm uint8 hex'],
  ['DSYNC', 'type scheme uint16 name'],
  ['EID', 'hex'],
  ['EUI48', 'eui48'],
  ['EUI64', 'eui64'],
  ['GID', 'uint32'],
  ['GPOS', 'string string string'],
  ['HINFO', 'string string'],
  ['HIP', 'host-identity'],
  ['HTTPS', 'uint16 name parameters'],
  ['IPSECKEY', 'ipsec-key'],
  ['ISDN', 'strings'],
  ['KEY', 'uint16 uint8 algorithm base64'],
  ['KX', 'uint16 name'],
  ['L32', 'uint16 ipv4'],
  ['L64', 'uint16 locator'],
  ['LOC', 'location'],
  ['LP', 'uint16 name'],
  ['MB', 'name'],
  ['MD', 'name'],
  ['MF', 'name'],
  ['MG', 'name'],
  ['MINFO', 'name name'],
  ['MR', 'name'],
  ['MX', 'uint16 name'],
  ['NAPTR', 'uint16 uint16 string string string name'],
  ['NID', 'uint16 locator'],
  ['NIMLOC', 'hex'],
  ['NINFO', 'texts'],
  ['NS', 'name'],
  ['NSAP-PTR', 'name'],
  ['NSEC', 'name types'],
  ['NSEC3', 'uint8 uint8 uint16 salt hash types'],
  ['NSEC3PARAM', 'uint8 uint8 uint16 salt'],
  ['OPENPGPKEY', 'base64'],
  ['PTR', 'name'],
  ['PX', 'uint16 name name'],
  ['RESINFO', 'texts'],
  ['RKEY', 'uint16 uint8 algorithm base64'],
  ['RP', 'name name'],
  ['RRSIG', 'type algorithm uint8 seconds time time uint16 name base64'],
  ['RT', 'uint16 name'],
  ['SMIMEA', 'uint8 uint8 uint8 hex'],
  ['SOA', 'name name uint32 seconds seconds seconds seconds'],
  ['SPF', 'texts'],
  ['SRV', 'uint16 uint16 uint16 name'],
  ['SSHFP', 'uint8 uint8 hex'],
  ['SVCB', 'uint16 name parameters'],
  ['TA', 'uint16 algorithm uint8 hex'],
  ['TALINK', 'name name'],
  ['TLSA', 'uint8 uint8 uint8 hex'],
  ['TXT', 'texts'],
  ['UID', 'uint32'],
  ['UINFO', 'string'],
  ['URI', 'uint16 uint16 text'],
  ['WALLET', 'texts'],
  ['X25', 'string'],
  ['ZONEMD', 'uint32 uint8 uint8 hex'],
]);

/** Types with a presentation format of their own, in alphabetical order. */
export const PRESENTABLE_TYPES: readonly string[] = [...FIELDS.keys()];

/**
 * @param type Messages show its word for missing data.
 * @throws ZoneFileFault
 */
export function readRecordData(
  type: ZoneWord,
  recordClass: number,
  words: readonly ZoneWord[],
  origin: AbsoluteName,
): RecordData {
  const number = parseType(type.text) ?? 0;
  const octets = isGeneric(words) ? encodeGeneric(words) : encodeFields(type, number, words, origin);
  try {
    return readData(number, recordClass, new OctetReader(octets));
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new ZoneFileFault(`no data of type ${typeName(number)}`, words[0] ?? type);
  }
}

function isGeneric([first]: readonly ZoneWord[]): boolean {
  return first?.text === '\\#' && !first.isQuoted;
}

function encodeGeneric([mark, length, ...digits]: readonly ZoneWord[]): Uint8Array {
  const place = length ?? mark ?? NOWHERE;
  const octets = encodeHex(digits, place);
  if (length === undefined || readNumber(length, 0xffff) !== octets.length)
    throw new ZoneFileFault(`${octets.length} octets of data, and another length before them`, place);
  return octets;
}

function encodeFields(
  type: ZoneWord,
  number: number,
  words: readonly ZoneWord[],
  origin: AbsoluteName,
): Uint8Array {
  const fields = FIELDS.get(typeName(number));
  if (fields === undefined)
    throw new ZoneFileFault(`no form for this type but that of RFC 3597, \\# LENGTH HEX`, words[0] ?? type);
  const parts: Uint8Array[] = [];
  let rest = words;
  let before = type;
  for (const [index, field] of fields.split(' ').entries()) {
    const encodeRest = REST_FIELDS.get(field);
    const taken = encodeRest === undefined ? rest.slice(0, 1) : rest;
    try {
      parts.push(encodeRest?.(taken, before, origin) ?? encodeOne(field, taken, before, origin));
    } catch (error) {
      if (!(error instanceof ZoneFileFault)) throw error;
      throw error.inField({ type: typeName(number), index });
    }
    before = taken.at(-1) ?? before;
    rest = rest.slice(taken.length);
  }
  const [extra] = rest;
  if (extra !== undefined) throw new ZoneFileFault(`more words than ${typeName(number)} has`, extra);
  return Buffer.concat(parts);
}

function encodeOne(
  field: string,
  [word]: readonly ZoneWord[],
  before: ZoneWord,
  origin: AbsoluteName,
): Uint8Array {
  if (word === undefined) throw missingField(field, before);
  return ONE_WORD_FIELDS.get(field)?.(word, origin) ?? new Uint8Array();
}

const MAX_STRING = 255;
const NOWHERE: ZoneWord = { text: '', isQuoted: false, line: 1, column: 0 };

type OneWordField = (word: ZoneWord, origin: AbsoluteName) => Uint8Array;
type RestField = (words: readonly ZoneWord[], before: ZoneWord, origin: AbsoluteName) => Uint8Array;

const ONE_WORD_FIELDS: ReadonlyMap<string, OneWordField> = new Map<string, OneWordField>([
  ['ipv4', (word) => encodeAddress(word, 4)],
  ['ipv6', (word) => encodeAddress(word, 16)],
  ['name', (word, origin) => encodeName(readName(word, origin))],
  ['uint8', (word) => encodeNumber(readNumber(word, 0xff), 1)],
  ['uint16', (word) => encodeNumber(readNumber(word, 0xffff), 2)],
  ['uint32', (word) => encodeNumber(readNumber(word, 0xffff_ffff), 4)],
  ['seconds', (word) => encodeNumber(readSeconds(word), 4)],
  ['time', (word) => encodeNumber(readTime(word), 4)],
  ['string', encodeString],
  ['text', readOctets],
  ['type', (word) => encodeNumber(readType(word), 2)],
  ['algorithm', (word) => encodeNumber(readNamed(word, ALGORITHMS, 0xff), 1)],
  ['scheme', (word) => encodeNumber(readNamed(word, SCHEMES, 0xff), 1)],
  ['certificate', (word) => encodeNumber(readNamed(word, CERTIFICATES, 0xffff), 2)],
  ['salt', encodeSalt],
  ['hash', encodeHash],
  ['eui48', (word) => encodeEui(word, 6)],
  ['eui64', (word) => encodeEui(word, 8)],
  ['locator', encodeLocator],
]);

const REST_FIELDS: ReadonlyMap<string, RestField> = new Map<string, RestField>([
  ['strings', encodeStrings],
  ['texts', encodeTexts],
  ['prefixes', encodePrefixes],
  ['hex', encodeHex],
  ['base64', encodeBase64],
  ['types', (words) => encodeTypeBitmap(words.map(readType))],
  ['parameters', encodeParameters],
  ['location', encodeLocation],
  ['ipsec-key', encodeIpsecKey],
  ['relay', encodeRelay],
  ['host-identity', encodeHostIdentity],
]);

function encodeStrings(words: readonly ZoneWord[], before: ZoneWord): Uint8Array {
  if (words.length === 0) throw missingField('string', before);
  return Buffer.concat(words.map(encodeString));
}

/** A text of more than 255 octets becomes several strings, as in CoreDNS. */
function encodeTexts(words: readonly ZoneWord[], before: ZoneWord): Uint8Array {
  if (words.length === 0) throw missingField('string', before);
  return Buffer.concat(words.flatMap((word) => splitText(readOctets(word))));
}

function splitText(octets: Uint8Array): readonly Uint8Array[] {
  const count = Math.max(1, Math.ceil(octets.length / MAX_STRING));
  return Array.from({ length: count }, (_, index) => {
    const part = octets.subarray(index * MAX_STRING, (index + 1) * MAX_STRING);
    return Buffer.concat([Uint8Array.of(part.length), part]);
  });
}

function encodeNumber(value: number, octets: 1 | 2 | 4): Uint8Array {
  const bytes = Buffer.alloc(octets);
  bytes.writeUIntBE(value, 0, octets);
  return bytes;
}

function encodeString(word: ZoneWord): Uint8Array {
  const octets = readOctets(word);
  if (octets.length > MAX_STRING) throw new ZoneFileFault('a string of more than 255 octets', word);
  return Buffer.concat([Uint8Array.of(octets.length), octets]);
}

function readType(word: ZoneWord): number {
  const type = parseType(word.text);
  if (type === undefined) throw new ZoneFileFault('not a type', word);
  return type;
}

/** IANA, DNS Security Algorithm Numbers. */
const ALGORITHMS: ReadonlyMap<string, number> = new Map<string, number>([
  ['RSAMD5', 1],
  ['DH', 2],
  ['DSA', 3],
  ['RSASHA1', 5],
  ['DSA-NSEC3-SHA1', 6],
  ['RSASHA1-NSEC3-SHA1', 7],
  ['RSASHA256', 8],
  ['RSASHA512', 10],
  ['ECC-GOST', 12],
  ['ECDSAP256SHA256', 13],
  ['ECDSAP384SHA384', 14],
  ['ED25519', 15],
  ['ED448', 16],
]);
/** RFC 4398 section 2.1. */
const CERTIFICATES: ReadonlyMap<string, number> = new Map<string, number>([
  ['PKIX', 1],
  ['SPKI', 2],
  ['PGP', 3],
  ['IPKIX', 4],
  ['ISPKI', 5],
  ['IPGP', 6],
  ['ACPKIX', 7],
  ['IACPKIX', 8],
  ['URI', 253],
  ['OID', 254],
]);

/** RFC 9859 section 2.2. */
const SCHEMES: ReadonlyMap<string, number> = new Map([['NOTIFY', 1]]);

function readNamed(word: ZoneWord, names: ReadonlyMap<string, number>, max: number): number {
  return names.get(word.text.toUpperCase()) ?? readNumber(word, max);
}

/** Seconds, or `YYYYMMDDHHmmSS` (RFC 4034 section 3.2). */
function readTime(word: ZoneWord): number {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(word.text)?.slice(1).map(Number);
  if (parts === undefined) return readNumber(word, 0xffff_ffff);
  const [year = 0, month = 0, day = 0, hours = 0, minutes = 0, seconds = 0] = parts;
  const time = new Date(Date.UTC(year, month - 1, day, hours, minutes, seconds));
  if (
    time.getUTCMonth() !== month - 1 ||
    time.getUTCDate() !== day ||
    hours > 23 ||
    minutes > 59 ||
    seconds > 59
  )
    throw new ZoneFileFault('not a date and time', word);
  // Serial number arithmetic: times after 2106 wrap around to 0.
  return (time.getTime() / 1000) % 2 ** 32;
}

/** RFC 5155 section 3.3: a hyphen means an empty salt. */
function encodeSalt(word: ZoneWord): Uint8Array {
  const salt = word.text === '-' ? new Uint8Array() : encodeHex([word], word);
  if (salt.length > 255) throw new ZoneFileFault('a salt of more than 255 octets', word);
  return Buffer.concat([Uint8Array.of(salt.length), salt]);
}

const BASE32_DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUV';

/** Base32 with extended hex alphabet, without padding (RFC 4648 section 7). */
function encodeHash(word: ZoneWord): Uint8Array {
  const octets: number[] = [];
  let bits = 0;
  let value = 0;
  for (const character of word.text.toUpperCase()) {
    const digit = BASE32_DIGITS.indexOf(character);
    if (digit < 0) throw new ZoneFileFault('not base32', word);
    value = (value << 5) | digit;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    octets.push((value >> bits) & 0xff);
    value &= (1 << bits) - 1;
  }
  if (octets.length === 0 || octets.length > 255) throw new ZoneFileFault('not base32', word);
  return Uint8Array.of(octets.length, ...octets);
}

/** RFC 6742 section 2.1.2: four groups of four digits. */
function encodeLocator(word: ZoneWord): Uint8Array {
  if (!/^[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){3}$/i.test(word.text))
    throw new ZoneFileFault('not 64 bits such as 2001:db8:1:2', word);
  return Buffer.from(
    word.text
      .split(':')
      .map((group) => group.padStart(4, '0'))
      .join(''),
    'hex',
  );
}

/** RFC 7043: octets in hexadecimal with hyphens between them. */
function encodeEui(word: ZoneWord, octets: 6 | 8): Uint8Array {
  if (new RegExp(`^[0-9a-fA-F]{2}(?:-[0-9a-fA-F]{2}){${octets - 1}}$`).test(word.text))
    return Buffer.from(word.text.replaceAll('-', ''), 'hex');
  throw new ZoneFileFault(`not ${octets} octets with hyphens between them`, word);
}

const FAMILIES = { 1: { octets: 4, bits: 32 }, 2: { octets: 16, bits: 128 } } as const;
const NEGATED_PREFIX = 0x80;

/** Lists of address prefixes, such as `1:192.0.2.0/24 !2:2001:db8::/32` (RFC 3123). */
function encodePrefixes(words: readonly ZoneWord[]): Uint8Array {
  return Buffer.concat(words.map(encodePrefix));
}

function encodePrefix(word: ZoneWord): Uint8Array {
  const [, not = '', family = '', text = '', length = ''] =
    /^(!?)([12]):([^/]+)\/(\d{1,3})$/.exec(word.text) ?? [];
  const { octets, bits } = family === '2' ? FAMILIES[2] : FAMILIES[1];
  const address = parseAddress(text);
  if (address?.length !== octets || Number(length) > bits)
    throw new ZoneFileFault('not a prefix such as 1:192.0.2.0/24', word);
  // Zeros at the end are left out (RFC 3123 section 4).
  const shown = address.subarray(0, address.findLastIndex((octet) => octet !== 0) + 1);
  const flags = (not === '' ? 0 : NEGATED_PREFIX) | shown.length;
  return Uint8Array.of(0, Number(family), Number(length), flags, ...shown);
}
