/**
 * Questions under way, found by what makes two of them equal.
 *
 * A hash table of chains, each entry of which forgets its neighbour when it leaves. A `Map` that takes in and sheds thousands of
 * entries a second leaves its old tables behind, each pointing to the next, and once one of them is old the collector keeps all
 * of them and all that they held: it was measured that nearly half of all garbage survived so.
 */
import type { NameKey } from '../wire/types.ts';
import type { ForwardQuestion } from './transport/query-message.ts';

/** With a name in lower case, so that equal questions are equal field by field. */
export type FlightQuestion = ForwardQuestion & { readonly name: NameKey };

/** What can be kept here: one question, and the next entry of the same chain. */
export interface Chained<Entry> {
  readonly question: FlightQuestion;
  nextInChain: Entry | undefined;
}

/** A power of two, above what is usually under way at once. */
const CHAINS = 4096;

export class Flights<Entry extends Chained<Entry>> {
  readonly #chains: (Entry | undefined)[] = Array.from({ length: CHAINS }, () => undefined);

  find(question: FlightQuestion): Entry | undefined {
    let entry = this.#chains[chainOf(question)];
    while (entry !== undefined && !isEqual(entry.question, question)) entry = entry.nextInChain;
    return entry;
  }

  /** Takes in an entry, which hides an older one of an equal question. */
  add(entry: Entry): void {
    const chain = chainOf(entry.question);
    entry.nextInChain = this.#chains[chain];
    this.#chains[chain] = entry;
  }

  /** @returns whether it was here */
  remove(entry: Entry): boolean {
    const chain = chainOf(entry.question);
    const first = this.#chains[chain];
    if (first === entry) {
      this.#chains[chain] = entry.nextInChain;
      entry.nextInChain = undefined;
      return true;
    }
    for (let other = first; other !== undefined; other = other.nextInChain) {
      if (other.nextInChain !== entry) continue;
      other.nextInChain = entry.nextInChain;
      entry.nextInChain = undefined;
      return true;
    }
    return false;
  }

  all(): readonly Entry[] {
    const entries: Entry[] = [];
    for (const first of this.#chains)
      for (let entry = first; entry !== undefined; entry = entry.nextInChain) entries.push(entry);
    return entries;
  }
}

/** Made anew in every process, so that nobody can choose names that share a chain. */
const SEED = Math.floor(Math.random() * 2 ** 31);

function chainOf({ name, type }: FlightQuestion): number {
  let hash = SEED ^ type;
  for (let index = 0; index < name.length; index += 1) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
    hash ^= hash >>> 15;
  }
  return (hash >>> 0) % CHAINS;
}

function isEqual(one: FlightQuestion, other: FlightQuestion): boolean {
  return (
    one.name === other.name &&
    one.type === other.type &&
    one.class === other.class &&
    one.dnssecOk === other.dnssecOk &&
    one.checkingDisabled === other.checkingDisabled &&
    one.recursionDesired === other.recursionDesired
  );
}
