/**
 * The counts of searched names over all threads: rings come and go, and their counts wrap around.
 */
import { parseKey } from '@portolan/dns/name.ts';
import { encodeName } from '@portolan/dns/name-wire.ts';
import { readSearchCounts, setSearchSuffix } from './search-counts.ts';

/** Namespaces with a count of their own. */
const MAX_NAMESPACES = 10_000;
const MAX_DOMAIN_CHARACTERS = 240;
const NO_SUFFIX = new Uint8Array();
const OTHERS = '';

export class SearchTotals {
  readonly #before = new WeakMap<SharedArrayBuffer, ReadonlyMap<string, number>>();
  readonly #totals = new Map<string, number>();
  #suffix: Uint8Array = NO_SUFFIX;

  /** By namespace. The empty name: namespaces beyond the bound. */
  get totals(): ReadonlyMap<string, number> {
    return this.#totals;
  }

  /** From now on, names of this cluster are counted. */
  begin(domain: string): void {
    // Services do not fit below a longer one.
    const isTooLong = domain.length > MAX_DOMAIN_CHARACTERS;
    this.#suffix = isTooLong ? NO_SUFFIX : encodeName(parseKey(domain === '.' ? 'svc.' : `svc.${domain}`));
  }

  countIn(memories: Iterable<SharedArrayBuffer>): void {
    for (const memory of memories) setSearchSuffix(memory, this.#suffix);
  }

  end(memories: Iterable<SharedArrayBuffer>): void {
    this.#suffix = NO_SUFFIX;
    this.countIn(memories);
  }

  /** Adds what was counted since the last call. */
  collect(memories: Iterable<SharedArrayBuffer>): void {
    for (const memory of memories) {
      const now = readSearchCounts(memory);
      const before = this.#before.get(memory);
      for (const [namespace, count] of now)
        this.#add(namespace, (count - (before?.get(namespace) ?? 0)) >>> 0);
      this.#before.set(memory, now);
    }
  }

  #add(namespace: string, count: number): void {
    if (count === 0) return;
    const isKnown = this.#totals.has(namespace) || this.#totals.size < MAX_NAMESPACES;
    const key = isKnown ? namespace : OTHERS;
    this.#totals.set(key, (this.#totals.get(key) ?? 0) + count);
  }
}
