/**
 * The index: open addressing with linear probing over atomic slots. The writer's side; readers only probe.
 *
 * A slot is swapped with one store, so a look-up finds the old entry or the new one, whole. Growth builds a new index
 * beside the old one and publishes it with one store; the old one is retired.
 */
import type { Arena } from './arena.ts';
import { EMPTY, HEADER, PAGE_SHIFT, PROBES, REMOVED, UNIT_SHIFT } from './layout.ts';
import type { TableViews } from './memory.ts';
import type { Reclaimer } from './reclaim.ts';

const LEAST_LOG2 = 12;

export class Slots {
  readonly #views: TableViews;
  readonly #arena: Arena;
  readonly #reclaimer: Reclaimer;
  /** The first word of the slots. */
  #base = 0;
  /** One less than the number of slots. */
  #mask = 0;
  #live = 0;
  #removed = 0;

  constructor(views: TableViews, arena: Arena, reclaimer: Reclaimer) {
    this.#views = views;
    this.#arena = arena;
    this.#reclaimer = reclaimer;
    this.#publish(LEAST_LOG2);
  }

  get live(): number {
    return this.#live;
  }

  get capacity(): number {
    return this.#mask + 1;
  }

  /** The slot whose entry has this hash and satisfies `matches`, or -1. */
  find(hash: number, matches: (block: number) => boolean): number {
    const mask = this.#mask;
    for (let probe = 0; probe < PROBES; probe++) {
      const slot = (hash + probe) & mask;
      const place = this.#views.atoms[this.#base + slot] ?? EMPTY;
      if (place === EMPTY) return -1;
      if (place === REMOVED) continue;
      const block = place << UNIT_SHIFT;
      if (this.#views.atoms[block >> 2] === hash && matches(block)) return slot;
    }
    return -1;
  }

  /** The block in a slot. */
  blockAt(slot: number): number {
    return (this.#views.atoms[this.#base + slot] ?? EMPTY) << UNIT_SHIFT;
  }

  replace(slot: number, block: number): void {
    Atomics.store(this.#views.atoms, this.#base + slot, block >> UNIT_SHIFT);
  }

  /** Puts an entry that is not there. With `mayGrow` false it may find no room, and says so. */
  insert(hash: number, block: number, mayGrow: boolean): boolean {
    if ((this.#live + this.#removed + 1) * 2 > this.capacity) this.#rebuild(1);
    let slot = this.#freeSlot(hash);
    for (let wish = 2; slot < 0; wish *= 2) {
      if (!mayGrow) return false;
      this.#rebuild(wish);
      slot = this.#freeSlot(hash);
    }
    if (this.#views.atoms[this.#base + slot] === REMOVED) this.#removed--;
    this.#live++;
    this.#views.octets[this.#recencyOf(slot)] = 0;
    this.replace(slot, block);
    return true;
  }

  remove(slot: number): void {
    const next = (slot + 1) & this.#mask;
    // No probe goes on past an empty slot, so a slot before one may be empty itself.
    const mark = this.#views.atoms[this.#base + next] === EMPTY ? EMPTY : REMOVED;
    Atomics.store(this.#views.atoms, this.#base + slot, mark);
    this.#live--;
    if (mark === REMOVED) this.#removed++;
  }

  /** Whether a reader used the entry in this slot since the mark was last taken. */
  hasRecency(slot: number): boolean {
    return this.#views.octets[this.#recencyOf(slot)] === 1;
  }

  /** Whether a reader used the entry in this slot since it was last asked; clears the mark. */
  takeRecency(slot: number): boolean {
    const { octets } = this.#views;
    const at = this.#recencyOf(slot);
    const used = octets[at] === 1;
    octets[at] = 0;
    return used;
  }

  /** The blocks of all entries. */
  *blocks(): Generator<number> {
    for (const [, block] of this.#entries()) yield block;
  }

  /** Slot and block of every entry. */
  *#entries(): Generator<readonly [number, number]> {
    const { atoms } = this.#views;
    const base = this.#base;
    if (base === 0) return;
    for (let slot = 0, end = this.capacity; slot < end; slot++) {
      const place = atoms[base + slot] ?? EMPTY;
      if (place > 0) yield [slot, place << UNIT_SHIFT];
    }
  }

  /** Where the mark of a slot lies. */
  #recencyOf(slot: number): number {
    return ((this.#base + this.capacity) << 2) + slot;
  }

  #freeSlot(hash: number, base = this.#base, mask = this.#mask): number {
    for (let probe = 0; probe < PROBES; probe++) {
      const slot = (hash + probe) & mask;
      if ((this.#views.atoms[base + slot] ?? EMPTY) <= EMPTY) return slot;
    }
    return -1;
  }

  /** A new index for at least `spread` times what is live, without the marks of removed entries. */
  #rebuild(spread: number): void {
    this.#publish(Math.ceil(Math.log2(this.#live * 4 * spread + 1)));
  }

  /** Moves all entries to a new index of at least 2^`wished` slots and publishes that. */
  #publish(wished: number): void {
    const old = { base: this.#base, octets: 5 * this.capacity };
    const entries = [...this.#entries()];
    let log2 = Math.max(LEAST_LOG2, wished);
    let base = this.#layOut(log2, entries);
    while (base === undefined) base = this.#layOut(++log2, entries);
    this.#base = base;
    this.#mask = 2 ** log2 - 1;
    this.#live = entries.length;
    this.#removed = 0;
    Atomics.store(this.#views.atoms, HEADER.INDEX, ((base >> (PAGE_SHIFT - 2)) << 5) | log2);
    if (old.base > 0) this.#reclaimer.retire(() => this.#arena.givePages(old.base << 2, old.octets));
  }

  /** A fresh index with these entries (slot and block), as its first word; undefined when one finds no slot within the bound. */
  #layOut(log2: number, entries: readonly (readonly [number, number])[]): number | undefined {
    const { atoms, octets } = this.#views;
    const size = 5 * 2 ** log2;
    const offset = this.#arena.takePages(size);
    octets.fill(0, offset, offset + size);
    const base = offset >> 2;
    for (const [old, block] of entries) {
      const slot = this.#freeSlot(atoms[block >> 2] ?? 0, base, 2 ** log2 - 1);
      if (slot < 0) {
        this.#arena.givePages(offset, size);
        return undefined;
      }
      atoms[base + slot] = block >> UNIT_SHIFT;
      // What is popular stays so.
      octets[((base + 2 ** log2) << 2) + slot] = this.hasRecency(old) ? 1 : 0;
    }
    return base;
  }
}
