/**
 * Names of types, classes, opcodes and response codes, for people and configuration.
 */
import { CLASS, OPCODE, RCODE, TYPE } from './types.ts';

/** Types that we carry but do not name elsewhere (IANA, DNS parameters). */
const OTHER_TYPES: ReadonlyMap<string, number> = new Map<string, number>([
  ['MD', 3],
  ['MF', 4],
  ['MB', 7],
  ['MG', 8],
  ['MR', 9],
  ['NULL', 10],
  ['WKS', 11],
  ['MINFO', 14],
  ['RP', 17],
  ['AFSDB', 18],
  ['X25', 19],
  ['ISDN', 20],
  ['RT', 21],
  ['NSAP-PTR', 23],
  ['SIG', 24],
  ['KEY', 25],
  ['PX', 26],
  ['GPOS', 27],
  ['LOC', 29],
  ['NXT', 30],
  ['EID', 31],
  ['NIMLOC', 32],
  ['KX', 36],
  ['CERT', 37],
  ['APL', 42],
  ['SSHFP', 44],
  ['IPSECKEY', 45],
  ['DHCID', 49],
  ['NSEC3', 50],
  ['NSEC3PARAM', 51],
  ['TLSA', 52],
  ['SMIMEA', 53],
  ['HIP', 55],
  ['NINFO', 56],
  ['RKEY', 57],
  ['TALINK', 58],
  ['OPENPGPKEY', 61],
  ['CSYNC', 62],
  ['ZONEMD', 63],
  ['DSYNC', 66],
  ['SPF', 99],
  ['UINFO', 100],
  ['UID', 101],
  ['GID', 102],
  ['NID', 104],
  ['L32', 105],
  ['L64', 106],
  ['LP', 107],
  ['EUI48', 108],
  ['EUI64', 109],
  ['URI', 256],
  ['AVC', 258],
  ['AMTRELAY', 260],
  ['RESINFO', 261],
  ['WALLET', 262],
  ['TA', 32_768],
  ['DLV', 32_769],
]);

const OTHER_RCODES: ReadonlyMap<string, number> = new Map<string, number>([
  ['YXRRSET', 7],
  ['NXRRSET', 8],
  ['NOTAUTH', 9],
  ['NOTZONE', 10],
  ['BADKEY', 17],
  ['BADTIME', 18],
  ['BADMODE', 19],
  ['BADNAME', 20],
  ['BADALG', 21],
  ['BADTRUNC', 22],
  ['BADCOOKIE', 23],
]);

const TYPE_NUMBERS: ReadonlyMap<string, number> = new Map([...Object.entries(TYPE), ...OTHER_TYPES]);
const TYPE_NAMES = namesByNumber(TYPE_NUMBERS);
const CLASS_NUMBERS: ReadonlyMap<string, number> = new Map(Object.entries(CLASS));
const CLASS_NAMES = namesByNumber(CLASS_NUMBERS);
const OPCODE_NAMES = namesByNumber(Object.entries(OPCODE));
const RCODE_NUMBERS: ReadonlyMap<string, number> = new Map([...Object.entries(RCODE), ...OTHER_RCODES]);
const RCODE_NAMES = namesByNumber(RCODE_NUMBERS);

function namesByNumber(entries: Iterable<readonly [string, number]>): ReadonlyMap<number, string> {
  return new Map(Array.from(entries, ([name, number]) => [number, name]));
}

/** The type's name, `TYPE65280` for one without (RFC 3597 section 5). */
export function typeName(type: number): string {
  return TYPE_NAMES.get(type) ?? `TYPE${type}`;
}

/** The type's name; undefined for an unnamed one. */
export function knownTypeName(type: number): string | undefined {
  return TYPE_NAMES.get(type);
}

/** The number of a type by its name in any case, or by `TYPE` and its number. */
export function parseType(text: string): number | undefined {
  const name = text.toUpperCase();
  const known = TYPE_NUMBERS.get(name);
  if (known !== undefined) return known;
  const digits = /^TYPE(\d{1,5})$/.exec(name)?.[1];
  return digits !== undefined && Number(digits) <= 0xffff ? Number(digits) : undefined;
}

/** The number of a class by its name in any case, or by `CLASS` and its number. */
export function parseClass(text: string): number | undefined {
  const name = text.toUpperCase();
  const digits = /^CLASS(\d{1,5})$/.exec(name)?.[1];
  if (digits !== undefined) return Number(digits) <= 0xffff ? Number(digits) : undefined;
  return CLASS_NUMBERS.get(name);
}

/** The class's name; undefined for an unnamed one. */
export function knownClassName(recordClass: number): string | undefined {
  return CLASS_NAMES.get(recordClass);
}

/** The class's name, `CLASS42` for one without. */
export function className(recordClass: number): string {
  return CLASS_NAMES.get(recordClass) ?? `CLASS${recordClass}`;
}

export function opcodeName(opcode: number): string {
  return OPCODE_NAMES.get(opcode) ?? `OPCODE${opcode}`;
}

/** The number of a response code by its name in any case. */
export function parseRcode(text: string): number | undefined {
  return RCODE_NUMBERS.get(text.toUpperCase());
}

/** The name of a whole response code, EDNS's upper bits included; `RCODE3841` for one without. */
export function rcodeName(rcode: number): string {
  return RCODE_NAMES.get(rcode) ?? `RCODE${rcode}`;
}
