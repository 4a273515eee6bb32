/**
 * What one evaluation may use. Texts of a query decide how long loops are and how large texts become, so all of it is bounded.
 */

/** An expression has no value for this query. The message is that of CoreDNS's library as far as it has one. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError';
}

/** Elements of lists and maps, as in expr-lang (`conf.DefaultMemoryBudget`). */
const MAX_ELEMENTS = 1_000_000;
/** Nodes visited by loops, and elements visited by functions: some 0.2 s of processor time. expr-lang has no such bound. */
const MAX_STEPS = 1_000_000;
/** Octets of texts that were made. expr-lang has no such bound. */
const MAX_OCTETS = 4_000_000;

export class Budget {
  #elements = 0;
  #steps = 0;
  #octets = 0;

  /** Takes elements of a new list or map. @throws EvaluationError */
  takeElements(count: number): void {
    this.#elements += count;
    if (this.#elements >= MAX_ELEMENTS) throw new EvaluationError('memory budget exceeded');
  }

  /** @throws EvaluationError */
  takeSteps(count: number): void {
    this.#steps += count;
    if (this.#steps > MAX_STEPS) throw new EvaluationError(`more than ${MAX_STEPS} steps`);
  }

  /** Takes the octets of a text that is compared or searched: much faster than steps. @throws EvaluationError */
  takeScan(octets: number): void {
    if (octets >= 16) this.takeSteps(octets >> 4);
  }

  /** Takes the octets of a new text, before it is made. @throws EvaluationError */
  takeOctets(count: number): void {
    this.#octets += count;
    if (this.#octets > MAX_OCTETS) throw new EvaluationError(`more than ${MAX_OCTETS} octets of text`);
  }
}
