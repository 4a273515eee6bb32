/**
 * The parameters of SVCB and HTTPS records (RFC 9460 section 2.1).
 */

import { parseAddress } from '@portolan/dns/address.ts';
import {
  fitsServiceParameter,
  nameServiceParameter,
  SERVICE_PARAMETER_KEYS,
  type ServiceParameter,
} from '@portolan/dns/service-binding-records.ts';
import { parseBase64 } from '@portolan/kernel/base/base64.ts';
import { ZoneFileFault, type ZoneWord } from './entries.ts';
import { readOctets } from './word-values.ts';

/** @throws ZoneFileFault */
export function encodeParameters(words: readonly ZoneWord[]): Uint8Array {
  const parameters = new Map<number, Uint8Array>();
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (word === undefined) break;
    const [, name = '', , value = ''] = /^([^=]*)(=(.*))?$/s.exec(word.text) ?? [];
    const key = parseParameterKey(name);
    if (key === undefined || word.isQuoted) throw new ZoneFileFault('not a parameter', word);
    if (parameters.has(key)) throw new ZoneFileFault('a parameter that was there before', word);
    const following = words[at + 1];
    // A quoted value is a word of its own, right after its key.
    const isQuoted = word.text.endsWith('=') && following?.isQuoted === true;
    const text = isQuoted ? following : { ...word, text: value };
    if (isQuoted) at += 1;
    parameters.set(key, isByNumber(name) ? readOctets(text) : encodeValue(key, text));
  }
  const sorted = [...parameters].sort(([a], [b]) => a - b);
  return Buffer.concat(
    sorted.map(([key, value]) => Buffer.concat([uint16(key), uint16(value.length), value])),
  );
}

function parseParameterKey(name: string): number | undefined {
  const known = SERVICE_PARAMETER_KEYS.indexOf(name.toLowerCase());
  if (known >= 0) return known;
  const digits = /^key(0|[1-9]\d{0,4})$/i.exec(name)?.[1];
  return digits !== undefined && Number(digits) < INVALID_KEY ? Number(digits) : undefined;
}

/** RFC 9460 section 14.3.2. */
const INVALID_KEY = 0xffff;
/** The value of a key by its number is octets, as BIND reads it (RFC 9460 section 2.1). */
const isByNumber = (name: string): boolean => /^key/i.test(name);

function encodeEchConfig(word: ZoneWord): Uint8Array {
  const octets = parseBase64(word.text);
  if (octets !== undefined) return octets;
  throw new ZoneFileFault('not base64', word);
}

function uint16(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value & 0xff);
}

function encodeValue(key: number, word: ZoneWord): Uint8Array {
  switch (SERVICE_PARAMETER_KEYS[key]) {
    case 'mandatory':
      return Buffer.concat(
        splitList(word)
          .map((name) => uint16(requireKey(name, word)))
          .sort(Buffer.compare),
      );
    case 'alpn':
      return encodeProtocols(word);
    case 'no-default-alpn':
    case 'ohttp':
      if (word.text !== '') throw new ZoneFileFault('a parameter that has no value', word);
      return new Uint8Array();
    case 'port':
      return uint16(readPart(word.text, 'port', word));
    case 'tls-supported-groups':
      return Buffer.concat(splitList(word).map((text) => uint16(readPart(text, 'group', word))));
    case 'ipv4hint':
      return Buffer.concat(splitList(word).map((text) => requireAddress(text, 4, word)));
    case 'ipv6hint':
      return Buffer.concat(splitList(word).map((text) => requireAddress(text, 16, word)));
    case 'ech':
      return encodeEchConfig(word);
    default:
      return readOctets(word);
  }
}

function splitList(word: ZoneWord): readonly string[] {
  const parts = word.text.split(',');
  if (parts.includes('')) throw new ZoneFileFault('a list with an empty part', word);
  return parts;
}

function requireKey(name: string, word: ZoneWord): number {
  const key = parseParameterKey(name);
  if (key === undefined) throw new ZoneFileFault('not the name of a parameter', word);
  return key;
}

function requireAddress(text: string, octets: 4 | 16, word: ZoneWord): Uint8Array {
  const address = parseAddress(text);
  if (address?.length === octets) return address;
  throw new ZoneFileFault(`not a list of IPv${octets === 4 ? 4 : 6} addresses`, word);
}

function readPart(text: string, what: string, word: ZoneWord): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 0xffff) return Number(text);
  throw new ZoneFileFault(`not a ${what}`, word);
}

const COMMA = 0x2c;
const BACKSLASH = 0x5c;

/** Unescapes twice: first the string, then the list (RFC 9460 appendix A.1). */
function encodeProtocols(word: ZoneWord): Uint8Array {
  const octets = readOctets(word);
  const protocols: number[][] = [[]];
  for (let at = 0; at < octets.length; at += 1) {
    const octet = octets[at] ?? 0;
    if (octet === COMMA) protocols.push([]);
    else if (octet === BACKSLASH) {
      at += 1;
      protocols.at(-1)?.push(octets[at] ?? BACKSLASH);
    } else protocols.at(-1)?.push(octet);
  }
  for (const { length } of protocols)
    if (length === 0 || length > 255) throw new ZoneFileFault('not a list of protocols', word);
  return Buffer.concat(protocols.map((protocol) => Uint8Array.of(protocol.length, ...protocol)));
}

/**
 * Why clients ignore a record with these parameters, and with it all others of its name (RFC 9460 sections 2.2, 7.1.1 and 8).
 * CoreDNS serves such records; BIND and NSD refuse them.
 *
 * @returns undefined: they do not
 */
export function findInconsistency(parameters: readonly ServiceParameter[]): string | undefined {
  const has = (key: number) => parameters.some((parameter) => parameter.key === key);
  const unfit = parameters.find((parameter) => !fitsServiceParameter(parameter));
  if (unfit !== undefined) return `no value of ${nameServiceParameter(unfit.key)}`;
  if (has(KEY.noDefaultAlpn) && !has(KEY.alpn)) return 'no-default-alpn without alpn';
  const mandatory = parameters.find(({ key }) => key === KEY.mandatory);
  const named = mandatory === undefined ? [] : readKeys(mandatory.value);
  for (const [index, key] of named.entries()) {
    const name = nameServiceParameter(key);
    if (key === KEY.mandatory) return 'mandatory is in its own list';
    if (named.indexOf(key) !== index) return `${name} is mandatory twice`;
    if (!has(key)) return `${name} is mandatory, and not there`;
  }
  return undefined;
}

const KEY = { mandatory: 0, alpn: 1, noDefaultAlpn: 2 } as const;

function readKeys(value: Uint8Array): readonly number[] {
  return Array.from(
    { length: value.length >> 1 },
    (_, index) => ((value[2 * index] ?? 0) << 8) | (value[2 * index + 1] ?? 0),
  );
}
