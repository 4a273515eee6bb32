/**
 * Finds names that a message already has, for compression pointers (RFC 1035 section 4.1.4).
 *
 * Every label written so far is an entry: its offset, and the entry of the rest of the name (0 for the root). A look-up
 * goes label by label from the right end, so each step compares one label. Entries are numbered in the order of
 * writing, and hash chains begin with the newest entry, so a rewind to a mark removes the latest entries.
 */
import { LOWER_CASE, MAX_NAME_OCTETS } from './label.ts';

/** A pointer holds 14 bits. */
const MAX_OFFSET = 0x3fff;
const MAX_ENTRIES = MAX_OFFSET / 2;
const CHAINS = 1024;
/** Bounds the time for names made to collide; names not found by then are written in full. */
const MAX_CHAIN_STEPS = 32;

export class NameCompression {
  /** Whether only names in the same letters are the same, as in CoreDNS. */
  keepsLetters = false;
  readonly #octets: Uint8Array;
  readonly #offsets = new Uint16Array(MAX_ENTRIES + 1);
  readonly #parents = new Uint16Array(MAX_ENTRIES + 1);
  readonly #older = new Uint16Array(MAX_ENTRIES + 1);
  readonly #chainByEntry = new Uint16Array(MAX_ENTRIES + 1);
  readonly #newest = new Uint16Array(CHAINS);
  readonly #starts = new Uint16Array(MAX_NAME_OCTETS);
  #count = 0;
  /** The chain of the label looked up last; a label that was not found is added there. */
  #chain = 0;
  #offsetOfLast = 0;

  /** @param octets The message with the names. */
  constructor(octets: Uint8Array) {
    this.#octets = octets;
  }

  /** The number of entries, for `rewind`. */
  get count(): number {
    return this.#count;
  }

  /** The offset of the name added last, or 0 if a pointer cannot reach it (or it is the root). */
  get offsetOfLast(): number {
    return this.#offsetOfLast;
  }

  /** Forgets all entries after the first `count`. */
  rewind(count: number): void {
    for (let entry = this.#count; entry > count; entry -= 1) {
      this.#newest[this.#chainByEntry[entry] ?? 0] = this.#older[entry] ?? 0;
    }
    this.#count = Math.min(this.#count, count);
  }

  /**
   * Adds the uncompressed name at `at`, and compresses it if allowed.
   *
   * @returns The offset after the name in its present form.
   */
  add(at: number, end: number, mayShorten: boolean): number {
    const octets = this.#octets;
    let labels = 0;
    for (let start = at; octets[start] !== 0; start += (octets[start] ?? 0) + 1) {
      this.#starts[labels] = start;
      labels += 1;
    }
    let parent = 0;
    let level = labels - 1;
    for (; level >= 0; level -= 1) {
      const found = this.#find(this.#starts[level] ?? 0, parent);
      if (found === 0) break;
      parent = found;
    }
    const whole = this.#insertLabels(level, parent);
    this.#offsetOfLast = this.#offsets[whole] ?? 0;
    if (parent === 0 || !mayShorten) return end;
    const pointerAt = this.#starts[level + 1] ?? 0;
    const target = this.#offsets[parent] ?? 0;
    octets[pointerAt] = 0xc0 | (target >> 8);
    octets[pointerAt + 1] = target & 0xff;
    return pointerAt + 2;
  }

  /**
   * Adds the labels up to `last`, from right to left. The last one was just looked up in vain below `parent`.
   *
   * @returns The entry of the whole name, or 0 if it is beyond the reach of pointers.
   */
  #insertLabels(last: number, parent: number): number {
    let behind = parent;
    for (let level = last; level >= 0; level -= 1) {
      const label = this.#starts[level] ?? 0;
      if (label > MAX_OFFSET || this.#count >= MAX_ENTRIES) return 0;
      if (level < last) this.#chain = this.#chainFor(label, behind);
      behind = this.#insert(label, behind);
    }
    return behind;
  }

  #find(label: number, parent: number): number {
    this.#chain = this.#chainFor(label, parent);
    let entry = this.#newest[this.#chain] ?? 0;
    for (let steps = 0; entry !== 0 && steps < MAX_CHAIN_STEPS; steps += 1) {
      if (this.#parents[entry] === parent && this.#equalLabels(this.#offsets[entry] ?? 0, label))
        return entry;
      entry = this.#older[entry] ?? 0;
    }
    return 0;
  }

  #insert(label: number, parent: number): number {
    const chain = this.#chain;
    this.#count += 1;
    const entry = this.#count;
    this.#offsets[entry] = label;
    this.#parents[entry] = parent;
    this.#chainByEntry[entry] = chain;
    this.#older[entry] = this.#newest[chain] ?? 0;
    this.#newest[chain] = entry;
    return entry;
  }

  #chainFor(label: number, parent: number): number {
    const octets = this.#octets;
    const end = label + (octets[label] ?? 0);
    let hash = Math.imul(parent + 1, 0x9e3779b1);
    for (let position = label + 1; position <= end; position += 1) {
      hash = Math.imul(hash ^ (LOWER_CASE[octets[position] ?? 0] ?? 0), 0x01000193);
    }
    return ((hash >>> 16) ^ hash) & (CHAINS - 1);
  }

  #equalLabels(one: number, other: number): boolean {
    const octets = this.#octets;
    const length = octets[one] ?? 0;
    if (octets[other] !== length) return false;
    for (let place = 1; place <= length; place += 1) {
      const left = octets[one + place] ?? 0;
      const right = octets[other + place] ?? 0;
      if (left !== right && (this.keepsLetters || LOWER_CASE[left] !== LOWER_CASE[right])) return false;
    }
    return true;
  }
}
