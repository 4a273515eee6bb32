/**
 * Reads the question and the OPT record of a query where it lies.
 *
 * One object per reader, filled anew for every packet: the hot path allocates nothing. Whatever is not the plain shape
 * (one question, nothing else but perhaps OPT) is left to the handler chain.
 *
 * The name is copied in lower case, four octets at a time, and hashed on the way. Octets behind its end are zero.
 */
import type { WireName } from '../wire/types.ts';
import { finishHash, foldWord, mixWord } from './hash.ts';
import { CACHED_FLAG } from './layout.ts';

export const PARSED = { PLAIN: 0, BROKEN: 1, UNUSUAL: 2 } as const;

/** A name has at most 127 labels besides the root (RFC 1035 section 2.3.4). */
const MOST_LABELS = 128;
const MOST_NAME = 255;
const HEADER_LENGTH = 12;
const OPT_LENGTH = 11;
const TYPE_OPT = 41;
/** Which octets of the last word belong to a name, by its length modulo 4. */
const LAST_WORD = Int32Array.of(-1, 0xff, 0xffff, 0xffffff);

export class QuestionReader {
  readonly name = new Uint8Array(MOST_NAME + 9);
  readonly nameWords = new Int32Array(this.name.buffer);
  readonly #nameView = new DataView(this.name.buffer);
  readonly #seed: number;
  nameLength = 0;
  /** Labels of the name, the root's not counted. */
  labels = 0;
  /** Where each label starts in `name`, from the left; the root's is the last. */
  readonly labelStarts = new Uint8Array(MOST_LABELS);
  /** The running hash of the whole name. */
  running = 0;
  type = 0;
  dnsClass = 0;
  /** The first octet behind the question. */
  end = 0;
  hasOpt = false;
  udpSize = 0;
  dnssecOk = false;
  checkingDisabled = false;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** The name, in memory that the next question is read into. */
  wireName(): WireName {
    // Measured and in lower case.
    return this.name.subarray(0, this.nameLength) as WireName;
  }

  /** The finished hash of the name without its first `skipped` labels. */
  hashWithout(skipped: number): number {
    let hash = this.#seed;
    for (let at = this.labelStarts[skipped] ?? 0; at < this.nameLength; at += 4) {
      hash = mixWord(hash, this.#nameView.getInt32(at, true));
    }
    return finishHash(hash);
  }

  /** What keeps answers to the same question apart: DO and CD. */
  cachedFlags(): number {
    return (
      (this.dnssecOk ? CACHED_FLAG.DNSSEC_OK : 0) |
      (this.checkingDisabled ? CACHED_FLAG.CHECKING_DISABLED : 0)
    );
  }

  /**
   * Reads a query whose header was accepted: one question.
   *
   * @param view the octets of `packet` and nothing else
   */
  parse(packet: Uint8Array, view: DataView, start: number, length: number): number {
    const end = start + length;
    const behindName = this.#measureName(packet, start + HEADER_LENGTH, end - 4);
    if (behindName === 0) return PARSED.BROKEN;
    this.#copyName(view, start + HEADER_LENGTH);
    this.type = view.getUint16(behindName);
    this.dnsClass = view.getUint16(behindName + 2);
    this.end = behindName + 4;
    this.checkingDisabled = (view.getUint8(start + 3) & 0x10) !== 0;
    return this.#readRest(view, start, end);
  }

  /** Finds the labels of the name. Returns where it ends, or 0. A question's name is never compressed. */
  #measureName(packet: Uint8Array, from: number, end: number): number {
    const { labelStarts } = this;
    let labels = 0;
    for (let at = from; at < end && at - from < MOST_NAME; ) {
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
    let hash = this.#seed;
    for (let index = 0; index < last; index++) {
      const word = foldWord(view.getInt32(from + index * 4, true));
      nameWords[index] = word;
      hash = mixWord(hash, word);
    }
    const word = foldWord(view.getInt32(from + last * 4, true)) & (LAST_WORD[nameLength & 3] ?? 0);
    nameWords[last] = word;
    nameWords[last + 1] = 0;
    this.running = mixWord(hash, word);
  }

  #readRest(view: DataView, start: number, end: number): number {
    this.hasOpt = false;
    this.dnssecOk = false;
    const opt = this.end;
    // Answers and authorities of a query, as one number.
    if (view.getInt32(start + 6) !== 0) return PARSED.UNUSUAL;
    const additionals = view.getUint16(start + 10);
    if (additionals === 0) return opt === end ? PARSED.PLAIN : PARSED.UNUSUAL;
    if (additionals !== 1 || opt + OPT_LENGTH > end) return PARSED.UNUSUAL;
    // Root owner, type OPT, version 0, and nothing behind it.
    const isOpt =
      view.getUint8(opt) === 0 && view.getUint16(opt + 1) === TYPE_OPT && view.getUint8(opt + 6) === 0;
    if (!isOpt || opt + OPT_LENGTH + view.getUint16(opt + 9) !== end) return PARSED.UNUSUAL;
    this.hasOpt = true;
    this.udpSize = view.getUint16(opt + 3);
    this.dnssecOk = (view.getUint8(opt + 7) & 0x80) !== 0;
    return PARSED.PLAIN;
  }
}
