/**
 * Doubly linked entries, so that all of one kind can be visited without a table of them.
 */
import type { TableViews } from '../table/memory.ts';

export class EntryList {
  readonly #words: Int32Array;
  readonly #next: number;
  readonly #previous: number;

  /** @param next where an entry has its successor, in octets; @param previous its predecessor */
  constructor(views: TableViews, next: number, previous: number) {
    this.#words = views.atoms;
    this.#next = next;
    this.#previous = previous;
  }

  /** Adds an entry before the first one. @param first 0 for none */
  add(entry: number, first: number): void {
    this.#words[(entry + this.#next) >> 2] = first;
    this.#words[(entry + this.#previous) >> 2] = 0;
    if (first !== 0) this.#words[(first + this.#previous) >> 2] = entry;
  }

  /** Removes an entry. @returns the first one after it was removed */
  remove(entry: number, first: number): number {
    const next = this.readNext(entry);
    const previous = this.#words[(entry + this.#previous) >> 2] ?? 0;
    if (next !== 0) this.#words[(next + this.#previous) >> 2] = previous;
    if (previous === 0) return next;
    this.#words[(previous + this.#next) >> 2] = next;
    return first;
  }

  readNext(entry: number): number {
    return this.#words[(entry + this.#next) >> 2] ?? 0;
  }
}
