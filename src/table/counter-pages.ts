/**
 * Gives each outcome its own counters, one page per reader. Pages without counts are never touched.
 */
import { Directory } from './directory.ts';
import { COUNTERS, FIRST_OUTCOMES, HEADER } from './layout.ts';
import type { WriterMemory } from './memory.ts';

export class CounterPages {
  readonly #memory: WriterMemory;
  readonly #directory: Directory;
  readonly #octets: number;

  /** @param readers that count, one page each */
  constructor(memory: WriterMemory, readers: number) {
    this.#memory = memory;
    this.#octets = Math.max(1, readers) * COUNTERS.WORDS * 4;
    this.#directory = new Directory(memory, HEADER.COUNTERS, 'outcomes', 0);
    for (let outcome = 0; outcome < FIRST_OUTCOMES; outcome++) this.claim(outcome);
  }

  /** Creates the counters of an outcome, unless they exist. */
  claim(outcome: number): void {
    if (this.#directory.get(outcome) !== 0) return;
    this.#directory.set(outcome, this.#memory.arena.takeFresh(this.#octets));
    const { atoms } = this.#memory.views;
    if (outcome >= Atomics.load(atoms, HEADER.OUTCOMES)) Atomics.store(atoms, HEADER.OUTCOMES, outcome + 1);
  }
}
