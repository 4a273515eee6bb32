/**
 * The index: open addressing with linear probing over atomic slots. The writer's side; readers only probe.
 *
 * A slot changes with one store, so a look-up finds the old entry or the new one, whole. An index that fills up moves
 * to a new one in steps. Meanwhile readers use the old one, and changes in slots that were already moved go to both.
 * The new one is published with one store; the old one is retired.
 */
import { TableFullError } from './arena.ts';
import { EMPTY, HEADER, NODE, PAGE_SHIFT, PROBES, REMOVED, UNIT_SHIFT } from './layout.ts';
import type { TableViews, WriterMemory } from './memory.ts';

const MIN_LOG2 = 12;
/** Slots to move with each insertion, so that the move ends before the old index is much fuller than half. */
const MOVED_AT_ONCE = 256;
/** Insertions between two requests for index memory from a full table. */
const RETRY_AFTER = 1024;

/** One array of slots followed by the recency octets. */
interface Index {
  /** The first word of the slots. */
  readonly base: number;
  readonly log2: number;
  /** Slots marked as removed. */
  removed: number;
}

export class Slots {
  readonly #views: TableViews;
  readonly #memory: WriterMemory;
  #index: Index;
  /** The next index, and the slot of the old one up to which entries were moved. */
  #next: Index | undefined;
  #moved = 0;
  #live = 0;
  /** Insertions to wait for before requesting index memory again. */
  #patience = 0;

  constructor(memory: WriterMemory) {
    this.#views = memory.views;
    this.#memory = memory;
    this.#index = this.#allocate(MIN_LOG2);
    this.#publish(this.#index);
  }

  get capacity(): number {
    return 1 << this.#index.log2;
  }

  /** The slot whose entry has this hash and satisfies `matches`, or -1. */
  find(hash: number, matches: (block: number) => boolean): number {
    return this.#find(this.#index, hash, matches);
  }

  /**
   * The block that follows in the search for a hash, 0 for none: for callers that compare blocks by themselves.
   *
   * @param after the block that it follows, 0 to begin
   */
  findNext(hash: number, after: number): number {
    const { atoms } = this.#views;
    const { base, log2 } = this.#index;
    const mask = (1 << log2) - 1;
    let isBehind = after === 0;
    for (let probe = 0; probe < PROBES; probe++) {
      const place = atoms[base + ((hash + probe) & mask)] ?? EMPTY;
      if (place === EMPTY) return 0;
      if (place === REMOVED) continue;
      const block = place << UNIT_SHIFT;
      if (isBehind && atoms[block >> 2] === hash) return block;
      if (block === after) isBehind = true;
    }
    return 0;
  }

  /** The block in a slot. */
  blockAt(slot: number): number {
    const place = this.#views.atoms[this.#index.base + slot] ?? EMPTY;
    return place > 0 ? place << UNIT_SHIFT : 0;
  }

  replace(slot: number, block: number): void {
    const twin = this.#findTwin(slot);
    this.#store(this.#index, slot, block >> UNIT_SHIFT);
    if (this.#next !== undefined && twin >= 0) this.#store(this.#next, twin, block >> UNIT_SHIFT);
  }

  /**
   * Inserts an entry that is not in the index yet. Returns false if no slot near its hash is free: the table is full,
   * or the slots collide, for which the index does not grow.
   */
  insert(hash: number, block: number): boolean {
    this.#growIfNeeded();
    this.step(MOVED_AT_ONCE);
    const slot = this.#freeSlot(this.#index, hash);
    if (slot < 0) return false;
    if (this.#next !== undefined && slot < this.#moved && !this.#put(this.#next, hash, block, 0))
      return false;
    this.#fill(this.#index, slot, block, 0);
    this.#live++;
    return true;
  }

  /**
   * Inserts an entry, unless one with the same head and key is there. Call `reserve` before: this neither grows the index nor moves it.
   *
   * @param block has its hash, its shape and its size
   * @param start where keys begin in entries of this kind
   * @returns the entry that is in the index now; 0: no slot near its hash is free
   */
  insertNew(block: number, start: number): number {
    const { atoms } = this.#views;
    const { base, log2 } = this.#index;
    const mask = (1 << log2) - 1;
    const hash = atoms[block >> 2] ?? 0;
    const end = (block + (atoms[(block + NODE.SIZE) >> 2] ?? 0)) >> 2;
    for (let probe = 0; probe < PROBES; probe++) {
      const slot = base + ((hash + probe) & mask);
      const place = atoms[slot] ?? EMPTY;
      // Behind a removed one there may be an equal one, so its slot is not used.
      if (place === EMPTY) {
        Atomics.store(atoms, slot, block >> UNIT_SHIFT);
        this.#live++;
        return block;
      }
      const other = place << UNIT_SHIFT;
      if (place === REMOVED || atoms[other >> 2] !== hash) continue;
      let word = (block + start) >> 2;
      const step = (other - block) >> 2;
      while (word < end && atoms[word] === atoms[word + step]) word++;
      const isSame = atoms[(block + NODE.SHAPE) >> 2] === atoms[(other + NODE.SHAPE) >> 2];
      if (isSame && word === end && atoms[(block + NODE.SIZE) >> 2] === atoms[(other + NODE.SIZE) >> 2])
        return other;
    }
    return 0;
  }

  remove(slot: number): void {
    const twin = this.#findTwin(slot);
    this.#clear(this.#index, slot);
    if (this.#next !== undefined && twin >= 0) this.#clear(this.#next, twin);
    this.#live--;
  }

  /**
   * Makes room for more entries at once. No move is under way then.
   *
   * @throws TableFullError
   */
  reserve(entries: number): void {
    this.step(this.capacity);
    if ((this.#live + this.#index.removed + entries) * 2 <= this.capacity) return;
    this.#patience = 0;
    this.#beginMove(this.#live + entries);
    this.step(this.capacity);
    if ((this.#live + entries) * 2 > this.capacity) throw new TableFullError(entries);
  }

  /** The blocks in slots where an entry of this hash could go. */
  near(hash: number): readonly number[] {
    const mask = this.capacity - 1;
    return Array.from({ length: PROBES }, (_, probe) => this.blockAt((hash + probe) & mask)).filter(
      (block) => block > 0,
    );
  }

  /** Moves up to `slots` slots to the new index, if a move is under way. */
  step(slots: number): void {
    const next = this.#next;
    if (next === undefined) return;
    const end = Math.min(this.#moved + slots, this.capacity);
    for (let slot = this.#moved; slot < end; slot++) {
      const block = this.blockAt(slot);
      if (block === 0) continue;
      const hash = this.#views.atoms[block >> 2] ?? 0;
      // Keep the mark of recently used entries.
      if (!this.#put(next, hash, block, this.hasRecency(slot) ? 1 : 0)) {
        this.#abandon(next);
        return;
      }
    }
    this.#moved = end;
    if (end === this.capacity) this.#publish(next);
  }

  /** Whether a reader used the entry in this slot since the mark was last cleared. */
  hasRecency(slot: number): boolean {
    return this.#views.octets[toRecencyOffset(this.#index, slot)] === 1;
  }

  /** Whether a reader used the entry in this slot since the mark was last cleared; clears it. */
  takeRecency(slot: number): boolean {
    const { octets } = this.#views;
    const at = toRecencyOffset(this.#index, slot);
    const used = octets[at] === 1;
    octets[at] = 0;
    return used;
  }

  /**
   * Slots with entries, `length` slots at a time. Between two parts entries may come and go; those that stay are
   * visited at least once.
   */
  *stretches(length: number): Generator<readonly number[]> {
    for (let from = 0, index = this.#index; from < this.capacity; from += length) {
      if (index !== this.#index) {
        index = this.#index;
        from = 0;
      }
      const end = Math.min(from + length, this.capacity);
      const slots = Array.from({ length: end - from }, (_, each) => from + each);
      yield slots.filter((slot) => this.blockAt(slot) > 0);
    }
  }

  /** The blocks of all entries. */
  *blocks(): Generator<number> {
    for (let slot = 0, end = this.capacity; slot < end; slot++) {
      const block = this.blockAt(slot);
      if (block > 0) yield block;
    }
  }

  #find({ base, log2 }: Index, hash: number, matches: (block: number) => boolean): number {
    const mask = (1 << log2) - 1;
    for (let probe = 0; probe < PROBES; probe++) {
      const slot = (hash + probe) & mask;
      const place = this.#views.atoms[base + slot] ?? EMPTY;
      if (place === EMPTY) return -1;
      if (place === REMOVED) continue;
      const block = place << UNIT_SHIFT;
      if (this.#views.atoms[block >> 2] === hash && matches(block)) return slot;
    }
    return -1;
  }

  /** The slot's twin in the next index, or -1. */
  #findTwin(slot: number): number {
    if (this.#next === undefined || slot >= this.#moved) return -1;
    const block = this.blockAt(slot);
    return this.#find(this.#next, this.#views.atoms[block >> 2] ?? 0, (candidate) => candidate === block);
  }

  #put(index: Index, hash: number, block: number, recency: number): boolean {
    const slot = this.#freeSlot(index, hash);
    if (slot >= 0) this.#fill(index, slot, block, recency);
    return slot >= 0;
  }

  #fill(index: Index, slot: number, block: number, recency: number): void {
    if (this.#views.atoms[index.base + slot] === REMOVED) index.removed--;
    const { octets } = this.#views;
    const at = toRecencyOffset(index, slot);
    // Writing a zero over a zero would make fresh memory resident.
    if (octets[at] !== recency) octets[at] = recency;
    this.#store(index, slot, block >> UNIT_SHIFT);
  }

  #clear(index: Index, slot: number): void {
    const next = (slot + 1) & ((1 << index.log2) - 1);
    // Probes stop at an empty slot, so a slot before one may become empty itself.
    const mark = this.#views.atoms[index.base + next] === EMPTY ? EMPTY : REMOVED;
    this.#store(index, slot, mark);
    if (mark === REMOVED) index.removed++;
  }

  #store({ base }: Index, slot: number, place: number): void {
    Atomics.store(this.#views.atoms, base + slot, place);
  }

  #freeSlot({ base, log2 }: Index, hash: number): number {
    const mask = (1 << log2) - 1;
    for (let probe = 0; probe < PROBES; probe++) {
      const slot = (hash + probe) & mask;
      if ((this.#views.atoms[base + slot] ?? EMPTY) <= EMPTY) return slot;
    }
    return -1;
  }

  /** Starts a move when this index is half full. The new one has room for twice the live entries; removed ones do not count. */
  #growIfNeeded(): void {
    if (this.#next !== undefined || (this.#live + this.#index.removed + 1) * 2 <= this.capacity) return;
    if (this.#patience > 0) {
      this.#patience--;
      return;
    }
    this.#beginMove(this.#live * 2);
  }

  /** Begins to move to an index that is half full with these entries. */
  #beginMove(entries: number): void {
    try {
      this.#next = this.#allocate(Math.max(MIN_LOG2, Math.ceil(Math.log2(entries * 2 + 1))));
      this.#moved = 0;
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      // Half of the slots are still free.
      this.#patience = RETRY_AFTER;
    }
  }

  #allocate(log2: number): Index {
    const octets = computeSize(log2);
    const { touched } = this.#memory.arena;
    const offset = this.#memory.arena.takePages(octets);
    // Fresh memory is zero already; touching it all at once would take milliseconds.
    if (offset < touched) this.#views.octets.fill(0, offset, offset + octets);
    return { base: offset >> 2, log2, removed: 0 };
  }

  #publish(index: Index): void {
    const old = this.#index;
    this.#index = index;
    this.#next = undefined;
    const place = index.base >> (PAGE_SHIFT - 2);
    Atomics.store(this.#views.atoms, HEADER.INDEX, (place << 5) | index.log2);
    if (old !== index) this.#memory.reclaimer.retire(() => this.#give(old));
  }

  /** Gives up the new index: if an entry finds no slot in it, it is no better than the old one. */
  #abandon(index: Index): void {
    this.#next = undefined;
    this.#patience = RETRY_AFTER;
    this.#give(index);
  }

  #give({ base, log2 }: Index): void {
    this.#memory.arena.givePages(base << 2, computeSize(log2));
  }
}

const computeSize = (log2: number): number => 5 << log2;

/** The recency octet of a slot. */
const toRecencyOffset = ({ base, log2 }: Index, slot: number): number => ((base + (1 << log2)) << 2) + slot;
