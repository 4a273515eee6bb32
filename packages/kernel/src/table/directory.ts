/**
 * Directories of views, zones and counters: places by number, in the table's memory. A directory that grows is replaced
 * with one store, so that a reader finds either the old words or the new ones.
 */
import type { Arena } from './arena.ts';
import { UNIT_SHIFT } from './layout.ts';
import type { TableViews, WriterMemory } from './memory.ts';
import type { Reclaimer } from './reclaim.ts';

/** Numbers have 16 bits. */
export const MAX_NUMBERS = 2 ** 16;
const FIRST_CAPACITY = 16;

export class Directory {
  readonly #views: TableViews;
  readonly #arena: Arena;
  readonly #reclaimer: Reclaimer;
  readonly #word: number;
  readonly #what: string;
  readonly #free: number[] = [];
  #capacity = 0;
  #next: number;

  /**
   * @param word the word of the header that leads to the directory
   * @param what is numbered, in the plural, for messages
   * @param first the first number to assign
   */
  constructor(memory: WriterMemory, word: number, what: string, first: number) {
    this.#views = memory.views;
    this.#arena = memory.arena;
    this.#reclaimer = memory.reclaimer;
    this.#word = word;
    this.#what = what;
    this.#next = first;
    this.#grow(FIRST_CAPACITY);
  }

  /** One more than the highest number ever assigned. */
  get end(): number {
    return this.#next;
  }

  /**
   * Assigns a block an unused number.
   *
   * @throws RangeError when all are taken
   * @throws TableFullError and leaves the directory as it was
   */
  add(block: number): number {
    const number = this.#free.at(-1) ?? this.#next;
    if (number >= MAX_NUMBERS) throw new RangeError(`too many ${this.#what}: at most ${MAX_NUMBERS}`);
    this.set(number, block);
    if (number === this.#next) this.#next++;
    else this.#free.pop();
    return number;
  }

  /** The octet of a number's block; 0 if unused. */
  get(number: number): number {
    if (number >= this.#capacity) return 0;
    return (this.#views.atoms[this.#locateWord(number)] ?? 0) << UNIT_SHIFT;
  }

  /** @throws TableFullError and leaves the directory as it was */
  set(number: number, block: number): void {
    if (number >= this.#capacity) this.#grow(2 ** Math.ceil(Math.log2(number + 1)));
    Atomics.store(this.#views.atoms, this.#locateWord(number), block >> UNIT_SHIFT);
  }

  /** Frees a number. Call it only once readers cannot meet the number any more. */
  release(number: number): void {
    Atomics.store(this.#views.atoms, this.#locateWord(number), 0);
    this.#free.push(number);
  }

  #locateWord(number: number): number {
    return (((this.#views.atoms[this.#word] ?? 0) << UNIT_SHIFT) >> 2) + number;
  }

  #grow(capacity: number): void {
    const { octets, atoms } = this.#views;
    const old = { block: (atoms[this.#word] ?? 0) << UNIT_SHIFT, octets: this.#capacity * 4 };
    const block = this.#arena.take(capacity * 4);
    octets.copyWithin(block, old.block, old.block + old.octets);
    octets.fill(0, block + old.octets, block + capacity * 4);
    this.#capacity = capacity;
    Atomics.store(atoms, this.#word, block >> UNIT_SHIFT);
    if (old.octets > 0) this.#reclaimer.retire(() => this.#arena.give(old.block, old.octets));
  }
}
