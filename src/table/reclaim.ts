/**
 * Gives memory back once no reader can still be looking at it.
 *
 * A reader's epoch is odd from after it received a batch until after it sent the answers, else even. What is retired
 * waits until every reader was seen even, or changed, after the retirement: then all of them look at newer things only.
 * Two groups are enough: one waits for its readers, the other gathers what is retired meanwhile.
 */
import { epochOf } from './layout.ts';

export class Reclaimer {
  readonly #atoms: Int32Array;
  readonly #readers: number;
  #gathering: (() => void)[] = [];
  #waiting: (() => void)[] = [];
  /** The odd epochs that the waiting group must see change; 0 where a reader is past already. */
  readonly #seen: Int32Array;

  constructor(atoms: Int32Array, readers: number) {
    this.#atoms = atoms;
    this.#readers = readers;
    this.#seen = new Int32Array(readers);
  }

  /** How many retired things still wait. */
  get pending(): number {
    return this.#gathering.length + this.#waiting.length;
  }

  /** Calls `free` once no reader can reach what it frees. What is retired must be unreachable by new look-ups. */
  retire(free: () => void): void {
    this.#gathering.push(free);
    if (this.#gathering.length >= 256) this.collect();
  }

  /** Frees what may be freed now. Cheap; call it after every group of changes. */
  collect(): void {
    if (this.#waiting.length > 0 && !this.#allPassed()) return;
    for (const free of this.#waiting) free();
    this.#waiting = this.#gathering;
    this.#gathering = [];
    this.#snapshot();
    if (this.#waiting.length === 0 || !this.#allPassed()) return;
    for (const free of this.#waiting) free();
    this.#waiting = [];
  }

  /** A dead reader looks at nothing any more: evens its epoch. */
  readerDied(reader: number): void {
    const epoch = epochOf(reader);
    if (Atomics.load(this.#atoms, epoch) & 1) Atomics.add(this.#atoms, epoch, 1);
  }

  #snapshot(): void {
    for (let reader = 0; reader < this.#readers; reader++) {
      const epoch = Atomics.load(this.#atoms, epochOf(reader));
      this.#seen[reader] = epoch & 1 ? epoch : 0;
    }
  }

  #allPassed(): boolean {
    for (let reader = 0; reader < this.#readers; reader++) {
      const seen = this.#seen[reader] ?? 0;
      if (seen === 0) continue;
      if (Atomics.load(this.#atoms, epochOf(reader)) === seen) return false;
      this.#seen[reader] = 0;
    }
    return true;
  }
}
