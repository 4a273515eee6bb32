/**
 * The records of DNSSEC: fields of signatures, bitmaps of types, and the text of all of them (RFC 4034 sections 2.2, 3, 4.2 and 5.3).
 */
import { uint16At } from './header.ts';
import { typeName } from './mnemonics.ts';
import { OctetReader } from './octet-reader.ts';
import { TYPE } from './types.ts';
import { WireError } from './wire-error.ts';

/** When signatures are valid: seconds since the epoch. */
export interface Validity {
  readonly inception: number;
  readonly expiration: number;
}

/** The octets before the name of the signer. */
export const FIXED_OCTETS = 18;

/** @param bytes of an RRSIG record @returns undefined if they are too few */
export function readValidity(bytes: Uint8Array): Validity | undefined {
  if (bytes.length < FIXED_OCTETS) return undefined;
  const fields = new DataView(bytes.buffer, bytes.byteOffset);
  return { expiration: fields.getUint32(8), inception: fields.getUint32(12) };
}

/** The type that a signature covers. @param bytes of an RRSIG record */
export function readCoveredType(bytes: Uint8Array): number {
  return uint16At(bytes, 0);
}

/** Seconds from one time to another, both in serial number arithmetic (RFC 4034 section 3.1.5). */
export function secondsUntil(time: number, now: number): number {
  return (time - now) | 0;
}

const MAX_BLOCK_OCTETS = 32;

/** Types as bits (RFC 4034 section 4.1.2): blocks of 256 types, each with the bits up to its last type. */
export function encodeTypeBitmap(types: Iterable<number>): Uint8Array {
  const blocks = new Map<number, Uint8Array>();
  for (const type of types) {
    const bits = blocks.get(type >> 8) ?? new Uint8Array(MAX_BLOCK_OCTETS);
    bits[(type & 0xff) >> 3] = (bits[(type & 0xff) >> 3] ?? 0) | (0x80 >> (type & 7));
    blocks.set(type >> 8, bits);
  }
  const parts = [...blocks]
    .sort(([one], [other]) => one - other)
    .map(([block, bits]) => {
      const length = bits.findLastIndex((octet) => octet !== 0) + 1;
      return Buffer.concat([Uint8Array.of(block, length), bits.subarray(0, length)]);
    });
  return Buffer.concat(parts);
}

/** @returns in ascending order; undefined if the octets are no bitmap */
export function decodeTypeBitmap(octets: Uint8Array): readonly number[] | undefined {
  const types: number[] = [];
  let last = -1;
  for (let at = 0; at < octets.length; ) {
    const block = octets[at] ?? 0;
    const length = octets[at + 1] ?? 0;
    const bits = octets.subarray(at + 2, at + 2 + length);
    if (block <= last || length === 0 || length > MAX_BLOCK_OCTETS || bits.length < length) return undefined;
    for (const [place, octet] of bits.entries())
      for (let bit = 0; bit < 8; bit += 1)
        if ((octet & (0x80 >> bit)) !== 0) types.push((block << 8) | (place << 3) | bit);
    last = block;
    at += 2 + length;
  }
  return types;
}

type Present = (from: OctetReader) => string | undefined;

const toBase64 = (octets: Uint8Array): string => Buffer.from(octets).toString('base64');
const toHex = (octets: Uint8Array): string => Buffer.from(octets).toString('hex').toUpperCase();

/** Three numbers, and octets that may not be missing. */
const presentFixed =
  (present: (octets: Uint8Array) => string): Present =>
  (from) => {
    const words = [from.uint16(), from.uint8(), from.uint8(), present(from.rest())];
    return words.at(-1) === '' ? undefined : words.join(' ');
  };

const presentKey = presentFixed(toBase64);
const presentDigest = presentFixed(toHex);

const presentSignature: Present = (from) => {
  const { message } = from;
  const words = [typeName(from.uint16()), from.uint8(), from.uint8(), from.uint32()];
  const validity = readValidity(message);
  if (validity === undefined) return undefined;
  const times = [validity.expiration, validity.inception].map(presentTime);
  from.bytes(8);
  const signature = [...words, ...times, from.uint16(), from.name(), toBase64(from.rest())];
  return signature.at(-1) === '' ? undefined : signature.join(' ');
};

const presentNext: Present = (from) => {
  const next = from.name();
  const types = decodeTypeBitmap(from.rest());
  return types && [next, ...types.map(typeName)].join(' ');
};

const PRESENTS: ReadonlyMap<number, Present> = new Map([
  [TYPE.DS, presentDigest],
  [TYPE.RRSIG, presentSignature],
  [TYPE.NSEC, presentNext],
  [TYPE.DNSKEY, presentKey],
  [TYPE.CDS, presentDigest],
  [TYPE.CDNSKEY, presentKey],
]);

/** The data in the form of zone files; undefined for another type, or octets that have no such form. */
export function presentSigned(type: number, bytes: Uint8Array): string | undefined {
  const present = PRESENTS.get(type);
  if (present === undefined) return undefined;
  try {
    return present(new OctetReader(bytes));
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

/** `YYYYMMDDHHmmSS`. @param seconds since the epoch */
function presentTime(seconds: number): string {
  return new Date(seconds * 1000)
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replaceAll(/\D/g, '');
}
