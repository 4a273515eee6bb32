/**
 * The registry of outcomes. An outcome is the number of the counters that an answer adds to, and so classifies the answer.
 *
 * There are two kinds. *Named* outcomes belong to the whole table; nodes and cached answers carry them, and every table
 * has counters for them. A view of a server block has its own *range* instead: entries carry a number within it.
 */
import { FIRST_OUTCOMES } from './layout.ts';

/** The outcome of answers without a class. */
export const NO_OUTCOME = 0;

/** Names with one outcome each. */
export class OutcomeNames {
  /** By name, in the order of first use. */
  readonly #named = new Map<string, number>();

  /** The outcome of a name, always the same. @throws RangeError when there are no more */
  assignOutcome(name: string): number {
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    const outcome = NO_OUTCOME + 1 + this.#named.size;
    if (outcome >= FIRST_OUTCOMES)
      throw new RangeError(`more outcomes than a table has counters for: ${name}`);
    this.#named.set(name, outcome);
    return outcome;
  }
}

/** Those of the process: every table has counters for them. */
const ofProcess = new OutcomeNames();

/** The outcome of a name, the same for the life of the process. @throws RangeError when there are no more */
export function nameOutcome(name: string): number {
  return ofProcess.assignOutcome(name);
}

/** The outcomes of several names. */
export function nameOutcomes<Name extends string>(...names: readonly Name[]): Readonly<Record<Name, number>> {
  return mapNames(names, nameOutcome);
}

/** The numbers of kinds of entries within a range. */
export function numberEntries<Kind extends string>(
  ...kinds: readonly Kind[]
): Readonly<Record<Kind, number>> {
  return mapNames(kinds, (kind) => kinds.indexOf(kind));
}

function mapNames<Name extends string>(names: readonly Name[], toNumber: (name: Name) => number) {
  // The entries are exactly the names.
  return Object.fromEntries(names.map((name) => [name, toNumber(name)])) as Record<Name, number>;
}

/** The outcomes after all named ones, assigned to views in order. */
export class OutcomeRanges {
  #next = FIRST_OUTCOMES;

  /** @returns the first of `count` outcomes; undefined if too few are left */
  take(count: number): number | undefined {
    const first = this.#next;
    if (first + count - 1 > MAX_OUTCOME) return undefined;
    this.#next += count;
    return first;
  }
}

const MAX_OUTCOME = 0xffff;
