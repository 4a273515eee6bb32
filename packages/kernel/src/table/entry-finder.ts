/**
 * Finds name nodes and cached answers in the index, for the question read last. The reader's side.
 */
import {
  CACHED,
  EMPTY,
  HEADER,
  KIND,
  NODE,
  PAGE_SHIFT,
  PROBES,
  padded,
  REMOVED,
  UNIT_SHIFT,
} from './layout.ts';
import type { TableViews } from './memory.ts';
import { CACHED_KEY_FLAGS, type QuestionReader } from './question.ts';

export class EntryFinder {
  readonly #atoms: Int32Array;
  readonly #octets: Uint8Array;
  readonly #question: QuestionReader;
  /** The recency octet of the entry that was found last. */
  recencyAt = 0;

  constructor(views: TableViews, question: QuestionReader) {
    this.#atoms = views.atoms;
    this.#octets = views.octets;
    this.#question = question;
  }

  /**
   * @param hash finished, with the salt of the publication or view
   * @param skipped leading labels of the question's name to omit
   * @param shape the second word of the entry
   * @returns the block of the entry, as an octet, or 0
   */
  find(hash: number, skipped: number, shape: number): number {
    const atoms = this.#atoms;
    const index = atoms[HEADER.INDEX] ?? 0;
    const base = (index >>> 5) << (PAGE_SHIFT - 2);
    const mask = (1 << (index & 31)) - 1;
    for (let probe = 0; probe < PROBES; probe++) {
      const slot = (hash + probe) & mask;
      const place = atoms[base + slot] ?? 0;
      if (place === EMPTY) return 0;
      if (place === REMOVED) continue;
      const block = place << UNIT_SHIFT;
      if (atoms[block >> 2] !== hash || atoms[(block + NODE.SHAPE) >> 2] !== shape) continue;
      if (!this.#matches(block, skipped, shape)) continue;
      this.recencyAt = ((base + mask + 1) << 2) + slot;
      return block;
    }
    return 0;
  }

  #matches(block: number, skipped: number, shape: number): boolean {
    const words = this.#atoms;
    const question = this.#question;
    const from = question.labelStarts[skipped] ?? 0;
    const length = question.nameLength - from;
    let start = block + CACHED.NAME;
    if (((shape >> 8) & 0xff) === KIND.NODE)
      start = block + NODE.TYPES + ((words[(block + NODE.ZONE) >> 2] ?? 0) >>> 16) * 8;
    else if (!this.#isSameQuestion(block)) return false;
    if (from > 0) {
      const octets = this.#octets;
      for (let at = 0; at < length; at++) if (octets[start + at] !== question.name[from + at]) return false;
      return true;
    }
    const word = start >> 2;
    for (let at = 0, end = padded(length) >> 2; at < end; at++) {
      if (words[word + at] !== question.nameWords[at]) return false;
    }
    return true;
  }

  #isSameQuestion(entry: number): boolean {
    const words = this.#atoms;
    const { type, dnsClass } = this.#question;
    const kept = (words[(entry + CACHED.FLAGS) >> 2] ?? 0) & CACHED_KEY_FLAGS;
    return (
      words[(entry + CACHED.QUESTION) >> 2] === (type | (dnsClass << 16)) &&
      kept === this.#question.cachedFlags()
    );
  }
}
