/**
 * Frees memory once readers cannot access it any more.
 *
 * A reader's epoch is odd from receiving a batch until its answers are sent, else even. Retired memory waits until
 * every reader's epoch was even, or changed, after the retirement: then all readers see only newer data. Two groups are
 * enough: one waits for its readers, the other gathers new retirements.
 */
import { locateEpoch } from './layout.ts';

export class Reclaimer {
  readonly #atoms: Int32Array;
  readonly #readers: number;
  #gathering: (() => void)[] = [];
  #waiting: (() => void)[] = [];
  /** The odd epochs that must change before the waiting group is freed; 0 for readers that have passed. */
  readonly #seen: Int32Array;

  constructor(atoms: Int32Array, readers: number) {
    this.#atoms = atoms;
    this.#readers = readers;
    this.#seen = new Int32Array(readers);
  }

  /** How many retirements still wait. */
  get pending(): number {
    return this.#gathering.length + this.#waiting.length;
  }

  /** Calls `free` once readers cannot reach the memory any more. New look-ups must not reach it already. */
  retire(free: () => void): void {
    this.#gathering.push(free);
    if (this.#gathering.length >= 256) this.collect();
  }

  /** Frees all that may be freed now. Cheap; call it after every group of changes. */
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

  /** Makes the epoch of a dead reader even: it reads no memory any more. */
  readerDied(reader: number): void {
    const epoch = locateEpoch(reader);
    if (Atomics.load(this.#atoms, epoch) & 1) Atomics.add(this.#atoms, epoch, 1);
  }

  #snapshot(): void {
    for (let reader = 0; reader < this.#readers; reader++) {
      const epoch = Atomics.load(this.#atoms, locateEpoch(reader));
      this.#seen[reader] = epoch & 1 ? epoch : 0;
    }
  }

  #allPassed(): boolean {
    for (let reader = 0; reader < this.#readers; reader++) {
      const seen = this.#seen[reader] ?? 0;
      if (seen === 0) continue;
      if (Atomics.load(this.#atoms, locateEpoch(reader)) === seen) return false;
      this.#seen[reader] = 0;
    }
    return true;
  }
}
