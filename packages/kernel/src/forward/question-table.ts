/**
 * Questions in flight, by key.
 *
 * A hash table of chains; an entry clears its link when it leaves. A `Map` with thousands of insertions and removals a
 * second leaves its old tables behind, each pointing to the next. Once one of them is in the old generation, the
 * collector keeps all of them and their content: measurements showed that nearly half of all garbage survived.
 */
import { isSameQuestion, type QuestionKey } from './question-key.ts';

/** An entry of the table: one question, and the next entry of the same chain. */
export interface Chained<Entry> {
  readonly question: QuestionKey;
  nextInChain: Entry | undefined;
}

const NO_OPTIONS = new Uint8Array();
/** More than the usual number of questions in flight. */
const MAX_CHAINS = 4096;
/** Most tables of many server blocks stay empty. */
const FIRST_CHAINS = 16;

export class QuestionTable<Entry extends Chained<Entry>> {
  readonly #maxChains: number;
  #chains: (Entry | undefined)[] = [];
  #size = 0;

  /** @param maxChains a power of two; the table has as many chains as it once had entries, and keeps them */
  constructor(maxChains = MAX_CHAINS) {
    this.#maxChains = maxChains;
  }

  get size(): number {
    return this.#size;
  }

  find(question: QuestionKey): Entry | undefined {
    if (this.#size === 0) return undefined;
    let entry = this.#chains[this.#computeChain(question)];
    while (entry !== undefined && !isSameQuestion(entry.question, question)) entry = entry.nextInChain;
    return entry;
  }

  /** Adds an entry, which hides an older one for an equal question. */
  add(entry: Entry): void {
    if (this.#size === this.#chains.length && this.#size < this.#maxChains) this.#grow();
    this.#put(entry);
    this.#size += 1;
  }

  #put(entry: Entry): void {
    const chain = this.#computeChain(entry.question);
    entry.nextInChain = this.#chains[chain];
    this.#chains[chain] = entry;
  }

  #grow(): void {
    const entries = this.all();
    const chains = Math.min(this.#maxChains, Math.max(FIRST_CHAINS, this.#chains.length * 2));
    this.#chains = Array.from({ length: chains }, () => undefined);
    // The newest entry of a chain is its first one.
    for (const entry of entries.toReversed()) this.#put(entry);
  }

  /** @returns whether it was in the table */
  remove(entry: Entry): boolean {
    if (this.#size === 0) return false;
    const chain = this.#computeChain(entry.question);
    const first = this.#chains[chain];
    if (first === entry) {
      this.#chains[chain] = entry.nextInChain;
      entry.nextInChain = undefined;
      this.#size -= 1;
      return true;
    }
    for (let other = first; other !== undefined; other = other.nextInChain) {
      if (other.nextInChain !== entry) continue;
      other.nextInChain = entry.nextInChain;
      entry.nextInChain = undefined;
      this.#size -= 1;
      return true;
    }
    return false;
  }

  #computeChain({ name, type, options = NO_OPTIONS }: QuestionKey): number {
    let hash = SEED ^ type;
    for (let index = 0; index < name.length; index += 1) {
      hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
      hash ^= hash >>> 15;
    }
    for (let index = 0; index < options.length; index += 1) {
      hash = Math.imul(hash ^ (options[index] ?? 0), 0x01000193);
      hash ^= hash >>> 15;
    }
    return (hash >>> 0) % this.#chains.length;
  }

  all(): readonly Entry[] {
    const entries: Entry[] = [];
    for (const first of this.#chains)
      for (let entry = first; entry !== undefined; entry = entry.nextInChain) entries.push(entry);
    return entries;
  }
}

/** Drawn for each process, so that clients cannot choose names that share a chain. */
const SEED = Math.floor(Math.random() * 2 ** 31);
