/**
 * Reads the question and the OPT record of a query where it lies, hashing the name from the root on the way.
 *
 * One object per reader, filled anew for every packet: the hot path allocates nothing. Whatever is not the plain shape
 * (one question, nothing else but perhaps OPT) is left to the handler chain.
 */
import { FOLD, finishHash, mixOctet } from './hash.ts';
import { CACHED_FLAG } from './layout.ts';

export const PARSED = { PLAIN: 0, BROKEN: 1, UNUSUAL: 2 } as const;

/** A name has at most 127 labels besides the root (RFC 1035 section 2.3.4). */
const MOST_LABELS = 128;
const MOST_NAME = 255;
const HEADER_LENGTH = 12;
const OPT_LENGTH = 11;
const TYPE_OPT = 41;

export class QuestionReader {
  /** The name in lower case, padded with zeros to a whole word. */
  readonly name = new Uint8Array(MOST_NAME + 5);
  readonly nameWords = new Uint32Array(this.name.buffer, 0, 64);
  nameLength = 0;
  labels = 0;
  /** Where each label starts in `name`, from the left. */
  readonly labelStarts = new Uint8Array(MOST_LABELS);
  /** The running hash of the name from each label to the root. */
  readonly suffixHashes = new Int32Array(MOST_LABELS);
  type = 0;
  dnsClass = 0;
  /** The first octet behind the question. */
  end = 0;
  hasOpt = false;
  udpSize = 0;
  dnssecOk = false;
  checkingDisabled = false;

  /** The finished hash of the name without its first `skipped` labels. */
  hashFrom(skipped: number, seed: number): number {
    return finishHash(skipped < this.labels ? (this.suffixHashes[skipped] ?? 0) : seed);
  }

  /** What keeps answers to the same question apart: DO and CD. */
  cachedFlags(): number {
    return (
      (this.dnssecOk ? CACHED_FLAG.DNSSEC_OK : 0) |
      (this.checkingDisabled ? CACHED_FLAG.CHECKING_DISABLED : 0)
    );
  }

  /** Reads a query whose header was accepted: one question. */
  parse(packet: Uint8Array, start: number, length: number, seed: number): number {
    const end = start + length;
    const behindName = this.#readName(packet, start + HEADER_LENGTH, end);
    if (behindName === 0 || behindName + 4 > end) return PARSED.BROKEN;
    this.type = ((packet[behindName] ?? 0) << 8) | (packet[behindName + 1] ?? 0);
    this.dnsClass = ((packet[behindName + 2] ?? 0) << 8) | (packet[behindName + 3] ?? 0);
    this.end = behindName + 4;
    this.checkingDisabled = ((packet[start + 3] ?? 0) & 0x10) !== 0;
    this.#hashSuffixes(seed);
    return this.#readRest(packet, start, end);
  }

  /** Copies the name in lower case. Returns where it ends, or 0. A question's name is never compressed. */
  #readName(packet: Uint8Array, from: number, end: number): number {
    const { name, labelStarts } = this;
    let at = from;
    let out = 0;
    let labels = 0;
    while (at < end) {
      const length = packet[at] ?? 0;
      if (length === 0) {
        name[out] = 0;
        name[out + 1] = 0;
        name[out + 2] = 0;
        name[out + 3] = 0;
        this.nameLength = out + 1;
        this.labels = labels;
        return at + 1;
      }
      if (length > 63 || at + length >= end || out + length + 2 > MOST_NAME) return 0;
      labelStarts[labels++] = out;
      name[out++] = length;
      for (const stop = ++at + length; at < stop; at++) name[out++] = FOLD[packet[at] ?? 0] ?? 0;
    }
    return 0;
  }

  #hashSuffixes(seed: number): void {
    const { name, labelStarts, suffixHashes } = this;
    let hash = seed;
    let stop = this.nameLength - 1;
    for (let label = this.labels - 1; label >= 0; label--) {
      const start = labelStarts[label] ?? 0;
      for (let at = start; at < stop; at++) hash = mixOctet(hash, name[at] ?? 0);
      suffixHashes[label] = hash;
      stop = start;
    }
  }

  #readRest(packet: Uint8Array, start: number, end: number): number {
    this.hasOpt = false;
    this.udpSize = 0;
    this.dnssecOk = false;
    for (let at = start + 6; at < start + 11; at++) if (packet[at] !== 0) return PARSED.UNUSUAL;
    const additionals = packet[start + 11] ?? 0;
    if (additionals === 0) return this.end === end ? PARSED.PLAIN : PARSED.UNUSUAL;
    const opt = this.end;
    if (additionals !== 1 || opt + OPT_LENGTH > end) return PARSED.UNUSUAL;
    const root = packet[opt] ?? 0;
    const type = ((packet[opt + 1] ?? 0) << 8) | (packet[opt + 2] ?? 0);
    const version = packet[opt + 6] ?? 0;
    const length = ((packet[opt + 9] ?? 0) << 8) | (packet[opt + 10] ?? 0);
    if (root !== 0 || type !== TYPE_OPT || version !== 0 || opt + OPT_LENGTH + length !== end)
      return PARSED.UNUSUAL;
    this.hasOpt = true;
    this.udpSize = ((packet[opt + 3] ?? 0) << 8) | (packet[opt + 4] ?? 0);
    this.dnssecOk = ((packet[opt + 7] ?? 0) & 0x80) !== 0;
    return PARSED.PLAIN;
  }
}
