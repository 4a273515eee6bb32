/**
 * Reads the question and the OPT record of a query in place.
 *
 * One object per reader, refilled for every packet: the hot path allocates no memory. Records other than OPT (a TSIG,
 * the SOA of an IXFR) are skipped; a malformed message, or octets after its last record, is FORMERR.
 *
 * The name is copied in lower case, four octets at a time, and hashed on the way. Octets after its end are zero.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import {
  areOptionsSound,
  isDnssecOk,
  OPT_OCTETS,
  QueryRecords,
  readEdnsVersion,
  readUdpSize,
} from '@portolan/dns/query-records.ts';
import { TYPE, type WireName } from '@portolan/dns/types.ts';
import { addWord, finishQuestion, foldWord, HASH_KEYS, joinSums, KEYS_PER_WORD } from './hash.ts';
import { CACHED_FLAG } from './layout.ts';

/** QUESTION: it can be answered. BROKEN: FORMERR. BAD_VERSION: EDNS above version 0 (RFC 6891 section 6.1.3). */
export const PARSED = { QUESTION: 0, BROKEN: 1, BAD_VERSION: 2 } as const;

/** Flags that are part of the key of a cached answer. */
export const CACHED_KEY_FLAGS =
  CACHED_FLAG.DNSSEC_OK | CACHED_FLAG.CHECKING_DISABLED | CACHED_FLAG.BEFORE_CACHE | CACHED_FLAG.OVER_IPV6;

/** A name has at most 127 labels besides the root (RFC 1035 section 2.3.4). */
const MAX_LABELS = 128;
const MAX_NAME = 255;
/** Which octets of the last word belong to a name, by its length modulo 4. */
const LAST_WORD = Int32Array.of(-1, 0xff, 0xffff, 0xffffff);

/** Header, root, type and class. */
const MIN_QUERY = 17;
/** QR and the opcode in the third octet. */
const NOT_A_QUERY = 0xf8;
/** QDCOUNT 1 and ANCOUNT 0, as one number. */
const ONE_QUESTION = 0x00010000;

/**
 * Whether a packet can be a query of one question. Reads only the header, in as few accesses as possible.
 *
 * @param view of the memory that the packet lies in
 */
export function isPlainQuery(view: DataView, start: number, length: number): boolean {
  if (length < MIN_QUERY) return false;
  return (view.getUint8(start + 2) & NOT_A_QUERY) === 0 && view.getInt32(start + 4) === ONE_QUESTION;
}

export class QuestionReader {
  readonly name = new Uint8Array(MAX_NAME + 9);
  readonly nameWords = new Int32Array(this.name.buffer);
  readonly #nameView = new DataView(this.name.buffer);
  readonly #keys: Int32Array;
  readonly #records = new QueryRecords();
  nameLength = 0;
  /** Labels of the name, the root's not counted. */
  labels = 0;
  /** Where each label starts in `name`, from the left; the root's is the last. */
  readonly labelStarts = new Uint8Array(MAX_LABELS);
  /** The unsalted hash of the whole name. */
  hash = 0;
  type = 0;
  dnsClass = 0;
  /** Whether to look for a cached answer of the handlers before the cache. */
  isBeforeCache = false;
  /** Whether to look for a cached answer that is only for clients over IPv6. */
  isOverIpv6 = false;
  /** The first octet after the question. */
  end = 0;
  hasOpt = false;
  /** The UDP size that the client offers; 0 without OPT. */
  udpSize = 0;
  dnssecOk = false;
  checkingDisabled = false;
  /** The memory of the query, and where the options of its OPT record lie. */
  packet: Uint8Array = new Uint8Array();
  optionsStart = 0;
  optionsEnd = 0;

  /** @param keys those of the hash, where it is needed */
  constructor(keys = new Int32Array(HASH_KEYS)) {
    this.#keys = keys;
  }

  /** The four octets of the name from this one on, the first one lowest; zeros after its end. */
  wordAt(at: number): number {
    return this.#nameView.getInt32(at, true);
  }

  /** Caps the UDP size. @param max octets, 0: unbounded */
  boundUdpSize(max: number): void {
    if (max !== 0 && this.udpSize > max) this.udpSize = max;
  }

  get hasOptions(): boolean {
    return this.hasOpt && this.optionsEnd > this.optionsStart;
  }

  /** The name, in memory that the next question overwrites. */
  wireName(): WireName {
    // Checked, and in lower case.
    return this.name.subarray(0, this.nameLength) as WireName;
  }

  /** The unsalted hash of the name without its first `skipped` labels. */
  hashWithout(skipped: number): number {
    const keys = this.#keys;
    let one = 0;
    let other = 0;
    for (
      let at = this.labelStarts[skipped] ?? 0, key = 0;
      at < this.nameLength;
      at += 4, key += KEYS_PER_WORD
    ) {
      const word = this.#nameView.getInt32(at, true);
      one = addWord(one, keys, key, word);
      other = addWord(other, keys, key + 2, word);
    }
    return joinSums(one, other);
  }

  /** Whether one of the first labels may be a wildcard: `*`, `any`, or one with a slash in it (keys of etcd). */
  hasWildcard(labels: number): boolean {
    const { name, labelStarts } = this;
    for (let label = 0; label < labels; label++) {
      const at = labelStarts[label] ?? 0;
      const length = name[at] ?? 0;
      if (length === 1 && name[at + 1] === 0x2a) return true;
      if (length === 3 && name[at + 1] === 0x61 && name[at + 2] === 0x6e && name[at + 3] === 0x79)
        return true;
      for (let octet = 1; octet <= length; octet++) if (name[at + octet] === 0x2f) return true;
    }
    return false;
  }

  /** The finished hash of the question. @param salt that of the view */
  hashOfQuestion(salt: number): number {
    return finishQuestion(this.hash ^ salt, this.#keys, this.type, this.dnsClass, this.cachedFlags());
  }

  /** Flags that are part of the key of a cached answer: DO and CD, and the place in the chain. */
  cachedFlags(): number {
    return (
      (this.isBeforeCache ? CACHED_FLAG.BEFORE_CACHE : 0) |
      (this.isOverIpv6 ? CACHED_FLAG.OVER_IPV6 : 0) |
      (this.dnssecOk ? CACHED_FLAG.DNSSEC_OK : 0) |
      (this.checkingDisabled ? CACHED_FLAG.CHECKING_DISABLED : 0)
    );
  }

  /**
   * Reads a query whose header was accepted: one question.
   *
   * @param view exactly the octets of `packet`
   */
  parse(packet: Uint8Array, view: DataView, start: number, length: number): number {
    const end = start + length;
    const behindName = this.#measureName(packet, start + HEADER_OCTETS, end - 4);
    if (behindName === 0) return PARSED.BROKEN;
    this.#copyName(view, start + HEADER_OCTETS);
    if (this.packet !== packet) this.packet = packet;
    this.isBeforeCache = false;
    this.isOverIpv6 = false;
    this.type = view.getUint16(behindName);
    this.dnsClass = view.getUint16(behindName + 2);
    this.end = behindName + 4;
    this.checkingDisabled = (view.getUint8(start + 3) & 0x10) !== 0;
    return this.#readRest(packet, view, start, end);
  }

  /** Finds the labels of the name. Returns where it ends, or 0. A question's name is never compressed. */
  #measureName(packet: Uint8Array, from: number, end: number): number {
    const { labelStarts } = this;
    let labels = 0;
    for (let at = from; at < end && at - from < MAX_NAME; ) {
      const length = packet[at] ?? 0;
      labelStarts[labels] = at - from;
      if (length === 0) {
        this.labels = labels;
        this.nameLength = at + 1 - from;
        return at + 1;
      }
      if (length > 63) return 0;
      labels++;
      at += length + 1;
    }
    return 0;
  }

  /** At least four octets of question follow the name, so whole words may be read. */
  #copyName(view: DataView, from: number): void {
    const { nameWords, nameLength } = this;
    const last = (nameLength - 1) >> 2;
    const keys = this.#keys;
    let one = 0;
    let other = 0;
    for (let index = 0; index < last; index++) {
      const word = foldWord(view.getInt32(from + index * 4, true));
      nameWords[index] = word;
      one = addWord(one, keys, index * KEYS_PER_WORD, word);
      other = addWord(other, keys, index * KEYS_PER_WORD + 2, word);
    }
    const word = foldWord(view.getInt32(from + last * 4, true)) & (LAST_WORD[nameLength & 3] ?? 0);
    nameWords[last] = word;
    nameWords[last + 1] = 0;
    one = addWord(one, keys, last * KEYS_PER_WORD, word);
    this.hash = joinSums(one, addWord(other, keys, last * KEYS_PER_WORD + 2, word));
  }

  #readRest(packet: Uint8Array, view: DataView, start: number, end: number): number {
    this.hasOpt = false;
    this.udpSize = 0;
    this.dnssecOk = false;
    const at = this.end;
    const additionals = view.getUint16(start + 10);
    // Answers and authorities of a query, as one number.
    if (view.getInt32(start + 6) === 0 && additionals <= 1) {
      if (additionals === 0) return at === end ? PARSED.QUESTION : PARSED.BROKEN;
      // Nearly all others: only OPT, with a root owner.
      if (at + OPT_OCTETS <= end && view.getUint8(at) === 0 && view.getUint16(at + 1) === TYPE.OPT)
        return at + OPT_OCTETS + view.getUint16(at + 9) === end && areOptionsSound(packet, at)
          ? this.#readOpt(packet, at)
          : PARSED.BROKEN;
    }
    const others = view.getUint16(start + 6) + view.getUint16(start + 8);
    if (!this.#records.read(packet, at, end, others, additionals)) return PARSED.BROKEN;
    return this.#records.opt === 0 ? PARSED.QUESTION : this.#readOpt(packet, this.#records.opt);
  }

  #readOpt(packet: Uint8Array, opt: number): number {
    this.hasOpt = true;
    this.optionsStart = opt + OPT_OCTETS;
    this.optionsEnd = opt + OPT_OCTETS + (((packet[opt + 9] ?? 0) << 8) | (packet[opt + 10] ?? 0));
    this.udpSize = readUdpSize(packet, opt);
    this.dnssecOk = isDnssecOk(packet, opt);
    return readEdnsVersion(packet, opt) === 0 ? PARSED.QUESTION : PARSED.BAD_VERSION;
  }
}
