/**
 * Signatures of messages by shared secrets (TSIG, RFC 8945).
 */
import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto';
import { HEADER_OCTETS } from './header.ts';
import { encodeName, toKey } from './name.ts';
import { OctetReader } from './octet-reader.ts';
import { skipName } from './query-records.ts';
import { CLASS, type NameKey, TYPE } from './types.ts';
import { WireError } from './wire-error.ts';

export interface TsigKey {
  readonly name: NameKey;
  readonly secret: Uint8Array;
}

/** Errors in a signature (RFC 8945 section 3). */
export const TSIG_ERROR = { NONE: 0, BADSIG: 16, BADKEY: 17, BADTIME: 18, BADTRUNC: 22 } as const;

/** A TSIG record, and what it signs. */
export interface Signature {
  readonly key: NameKey;
  readonly algorithm: NameKey;
  /** Seconds since the epoch. */
  readonly time: number;
  /** Seconds by which clocks may differ. */
  readonly fudge: number;
  readonly mac: Uint8Array;
  readonly error: number;
  readonly other: Uint8Array;
  /** The message before it was signed. */
  readonly message: Uint8Array;
}

export type SignatureReading =
  | { readonly kind: 'none' }
  /** FORMERR (RFC 8945 section 5.1). */
  | { readonly kind: 'malformed' }
  | { readonly kind: 'signed'; readonly signature: Signature };

const ALGORITHMS: ReadonlyMap<string, { readonly hash: string; readonly octets: number }> = new Map([
  ['hmac-sha1.', { hash: 'sha1', octets: 20 }],
  ['hmac-sha224.', { hash: 'sha224', octets: 28 }],
  ['hmac-sha256.', { hash: 'sha256', octets: 32 }],
  ['hmac-sha384.', { hash: 'sha384', octets: 48 }],
  ['hmac-sha512.', { hash: 'sha512', octets: 64 }],
]);
// A key by inspection.
export const DEFAULT_ALGORITHM = 'hmac-sha256.' as NameKey;
/** Seconds (RFC 8945 section 10). */
const FUDGE = 300;
/** Shorter MACs are malformed (RFC 8945 section 5.2.2.1). */
const MIN_MAC_OCTETS = 10;
const NO_OCTETS = new Uint8Array(0);

export function isKnownAlgorithm(name: string): boolean {
  return ALGORITHMS.has(name);
}

/** Reads the signature of a message. It copies all octets that it returns. */
export function readSignature(packet: Uint8Array): SignatureReading {
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  if (packet.length < HEADER_OCTETS || view.getUint16(10) === 0) return { kind: 'none' };
  try {
    const places = findSignatures(packet, view);
    const [at, ...more] = places.found;
    if (at === undefined) return { kind: 'none' };
    if (more.length > 0 || at !== places.last) return { kind: 'malformed' };
    const signature = readRecord(packet, at, view.getUint16(10));
    return signature === undefined ? { kind: 'malformed' } : { kind: 'signed', signature };
  } catch (error) {
    if (error instanceof WireError) return { kind: 'malformed' };
    throw error;
  }
}

/** Offsets of all TSIG records, and of the last additional record. None if the message is malformed. */
function findSignatures(packet: Uint8Array, view: DataView): { found: readonly number[]; last: number } {
  const found: number[] = [];
  let at = HEADER_OCTETS;
  for (let left = view.getUint16(4); left > 0; left -= 1) {
    at = skipName(packet, at, packet.length);
    if (at < 0 || at + 4 > packet.length) return { found: [], last: -1 };
    at += 4;
  }
  let last = -1;
  for (let left = view.getUint16(6) + view.getUint16(8) + view.getUint16(10); left > 0; left -= 1) {
    const behindName = skipName(packet, at, packet.length);
    if (behindName < 0 || behindName + 10 > packet.length) return { found: [], last: -1 };
    if (view.getUint16(behindName) === TYPE.TSIG) found.push(at);
    last = at;
    at = behindName + 10 + view.getUint16(behindName + 8);
  }
  return { found, last };
}

/** @throws WireError */
function readRecord(packet: Uint8Array, at: number, additionals: number): Signature | undefined {
  const from = new OctetReader(packet, at);
  const key = toKey(from.name());
  from.uint16();
  const recordClass = from.uint16();
  const ttl = from.uint32();
  const length = from.uint16();
  if (recordClass !== CLASS.ANY || ttl !== 0 || length > from.remaining) return undefined;
  from.end = from.position + length;
  const algorithm = toKey(from.name());
  const time = from.uint16() * 2 ** 32 + from.uint32();
  const fudge = from.uint16();
  const mac = from.bytes(from.uint16());
  const originalId = from.uint16();
  const error = from.uint16();
  const other = from.bytes(from.uint16());
  if (from.remaining > 0) return undefined;
  const message = new Uint8Array(packet.subarray(0, at));
  const view = new DataView(message.buffer);
  view.setUint16(0, originalId);
  view.setUint16(10, additionals - 1);
  return { key, algorithm, time, fudge, mac, error, other, message };
}

/** Whether a MAC has a length that RFC 8945 section 5.2.2.1 does not allow. */
export function isMacMalformed({ algorithm, mac }: Signature): boolean {
  const octets = ALGORITHMS.get(algorithm)?.octets;
  return octets !== undefined && (mac.length > octets || mac.length < Math.max(MIN_MAC_OCTETS, octets / 2));
}

/**
 * Verifies the signature of a query, in the order of RFC 8945 section 5.2. Truncated MACs are refused.
 *
 * @param key undefined: unknown
 * @param seconds the time, since the epoch
 * @returns of `TSIG_ERROR`
 */
export function verifyQuery(signature: Signature, key: TsigKey | undefined, seconds: number): number {
  const algorithm = ALGORITHMS.get(signature.algorithm);
  if (key === undefined || algorithm === undefined) return TSIG_ERROR.BADKEY;
  const hmac = createHmac(algorithm.hash, key.secret);
  const mac = hmac.update(signature.message).update(encodeVariables(signature)).digest();
  if (!startsWith(mac, signature.mac)) return TSIG_ERROR.BADSIG;
  if (signature.mac.length < mac.length) return TSIG_ERROR.BADTRUNC;
  return isInTime(signature, seconds) ? TSIG_ERROR.NONE : TSIG_ERROR.BADTIME;
}

function startsWith(mac: Uint8Array, part: Uint8Array): boolean {
  return part.length > 0 && timingSafeEqual(mac.subarray(0, part.length), part);
}

function isInTime({ time, fudge }: Signature, seconds: number): boolean {
  return Math.abs(seconds - time) <= fudge;
}

/** The parts of a signature that a MAC covers besides the message (RFC 8945 section 4.3.3). */
type TsigVariables = Pick<Signature, 'key' | 'algorithm' | 'time' | 'fudge' | 'error' | 'other'>;

function encodeVariables({ key, algorithm, error, other, ...timers }: TsigVariables): Uint8Array {
  return Buffer.concat([
    encodeName(key),
    // Class ANY, TTL 0.
    Uint8Array.of(0, 255, 0, 0, 0, 0),
    encodeName(algorithm),
    encodeTimers(timers),
    uint16s(error, other.length),
    other,
  ]);
}

function encodeTimers({ time, fudge }: Pick<Signature, 'time' | 'fudge'>): Uint8Array {
  return Buffer.concat([uint48(time), uint16s(fudge)]);
}

function uint16s(...values: readonly number[]): Uint8Array {
  return Uint8Array.from(values.flatMap((value) => [value >>> 8, value & 0xff]));
}

export function uint48(value: number): Uint8Array {
  const octets = Buffer.alloc(6);
  octets.writeUIntBE(value, 0, 6);
  return octets;
}

/** Appends a TSIG record. */
function append(message: Uint8Array, variables: TsigVariables, mac: Uint8Array): Uint8Array {
  const id = message.subarray(0, 2);
  const data = Buffer.concat([
    encodeName(variables.algorithm),
    encodeTimers(variables),
    uint16s(mac.length),
    mac,
    id,
    uint16s(variables.error, variables.other.length),
    variables.other,
  ]);
  const head = [encodeName(variables.key), uint16s(TYPE.TSIG, CLASS.ANY, 0, 0, data.length)];
  const signed = Buffer.concat([message, ...head, data]);
  signed.writeUInt16BE(signed.readUInt16BE(10) + 1, 10);
  return signed;
}

/** A MAC begins with the MAC before it (RFC 8945 section 4.3.1). */
function startHmac(hash: string, secret: Uint8Array, prior: Uint8Array | undefined): Hmac {
  const hmac = createHmac(hash, secret);
  return prior === undefined ? hmac : hmac.update(uint16s(prior.length)).update(prior);
}

/** Signs a query. @param algorithm a known one */
export function signQuery(
  message: Uint8Array,
  key: TsigKey,
  algorithm: NameKey,
  seconds: number,
): { readonly octets: Uint8Array; readonly mac: Uint8Array } {
  const variables = { key: key.name, algorithm, time: seconds, fudge: FUDGE, error: 0, other: NO_OCTETS };
  const { hash = 'sha256' } = ALGORITHMS.get(algorithm) ?? {};
  const mac = startHmac(hash, key.secret, undefined)
    .update(message)
    .update(encodeVariables(variables))
    .digest();
  return { octets: append(message, variables, mac), mac };
}

/** Signs the messages of a response in their order. */
export class ResponseSigner {
  /** The octets that a signature takes at most. */
  readonly octets: number;
  readonly #query: Signature;
  readonly #key: TsigKey | undefined;
  readonly #error: number;
  readonly #seconds: () => number;
  #prior: Uint8Array;
  #isFirst = true;

  /**
   * @param key undefined: unknown, then the response is not signed
   * @param error of `TSIG_ERROR`
   * @param seconds the time, since the epoch
   */
  constructor(query: Signature, key: TsigKey | undefined, error: number, seconds: () => number) {
    this.#query = query;
    this.#key = key;
    this.#error = error;
    this.#seconds = seconds;
    this.#prior = query.mac;
    const names = encodeName(query.key).length + encodeName(query.algorithm).length;
    this.octets = names + 10 + 16 + (ALGORITHMS.get(query.algorithm)?.octets ?? 0) + 6;
  }

  sign(message: Uint8Array): Uint8Array {
    const { key, algorithm, time } = this.#query;
    const isLate = this.#error === TSIG_ERROR.BADTIME;
    const seconds = this.#seconds();
    const variables: TsigVariables = {
      key,
      algorithm,
      fudge: FUDGE,
      error: this.#error,
      // RFC 8945 section 5.2.3: the client's time, and ours beside it. An unsigned response has no time, as in CoreDNS.
      time: isLate ? time : this.#isSigned ? seconds : 0,
      other: isLate ? uint48(seconds) : NO_OCTETS,
    };
    return append(message, variables, this.#computeMac(message, variables));
  }

  get #isSigned(): boolean {
    return this.#error === TSIG_ERROR.NONE || this.#error === TSIG_ERROR.BADTIME;
  }

  /** Without a key, or with a wrong MAC, there is nothing to sign with (RFC 8945 section 5.3.2). */
  #computeMac(message: Uint8Array, variables: TsigVariables): Uint8Array {
    const algorithm = ALGORITHMS.get(this.#query.algorithm);
    if (!this.#isSigned || this.#key === undefined || algorithm === undefined) return NO_OCTETS;
    const hmac = startHmac(algorithm.hash, this.#key.secret, this.#prior).update(message);
    this.#prior = hmac.update(this.#isFirst ? encodeVariables(variables) : encodeTimers(variables)).digest();
    this.#isFirst = false;
    return this.#prior;
  }
}

/** The signature of a response is missing or wrong. */
export class TsigError extends Error {
  override readonly name = 'TsigError';
}

/** Messages in a row without a signature at most (RFC 8945 section 5.3.1). */
const MAX_UNSIGNED = 99;

/** Verifies the messages of a response in their order (RFC 8945 section 5.3). */
export class ResponseVerifier {
  readonly #key: TsigKey;
  readonly #algorithm: NameKey;
  readonly #hash: string;
  #hmac: Hmac;
  #unsigned = 0;
  #isFirst = true;

  /** @param mac of the query; @param algorithm a known one */
  constructor(key: TsigKey, algorithm: NameKey, mac: Uint8Array) {
    this.#key = key;
    this.#algorithm = algorithm;
    this.#hash = ALGORITHMS.get(algorithm)?.hash ?? 'sha256';
    this.#hmac = startHmac(this.#hash, key.secret, mac);
  }

  /** Whether the last message was signed: the last of a response must be. */
  get isSigned(): boolean {
    return !this.#isFirst && this.#unsigned === 0;
  }

  /** @param seconds the time, since the epoch @throws TsigError */
  take(packet: Uint8Array, seconds: number): void {
    const reading = readSignature(packet);
    if (reading.kind === 'malformed') throw new TsigError('dns: malformed TSIG');
    if (reading.kind === 'none') {
      if (this.#isFirst || this.#unsigned >= MAX_UNSIGNED) throw new TsigError('dns: no signature found');
      this.#unsigned += 1;
      this.#hmac.update(packet);
      return;
    }
    this.#verify(reading.signature, seconds);
    this.#unsigned = 0;
    this.#isFirst = false;
  }

  #verify(signature: Signature, seconds: number): void {
    const { key, algorithm, error, mac } = signature;
    if (error !== TSIG_ERROR.NONE) throw new TsigError(`dns: TSIG error ${error} of the server`);
    if (key !== this.#key.name || algorithm !== this.#algorithm) throw new TsigError('dns: bad key');
    const covered = this.#isFirst ? encodeVariables(signature) : encodeTimers(signature);
    const expected = this.#hmac.update(signature.message).update(covered).digest();
    if (mac.length !== expected.length || !timingSafeEqual(mac, expected))
      throw new TsigError('dns: bad signature');
    if (!isInTime(signature, seconds)) throw new TsigError('dns: bad time');
    this.#hmac = startHmac(this.#hash, this.#key.secret, mac);
  }
}
