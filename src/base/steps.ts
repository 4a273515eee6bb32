/**
 * Work in steps: a generator that yields after each millisecond or so, so that its caller can do other work in between.
 */
export type Steps<Result> = Generator<void, Result, void>;

/** How many small pieces of work, such as a look-up or a record, make a step: a fraction of a millisecond. */
export const PIECES_PER_STEP = 1_000;

/** Runs all steps at once. */
export function completeSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Does a small piece of work for each item. A list no longer than a step is processed without a pause. */
export function* inSteps<Item>(items: readonly Item[], work: (item: Item) => void): Steps<void> {
  let pieces = 0;
  for (const item of items) {
    if (pieces === PIECES_PER_STEP) {
      pieces = 0;
      yield;
    }
    work(item);
    pieces += 1;
  }
}
