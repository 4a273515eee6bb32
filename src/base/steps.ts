/**
 * Work in steps: a generator that yields after each millisecond or so, for whom other work may be done in between.
 */
export type Steps<Result> = Generator<void, Result, void>;

/** Does all steps at once. */
export function completeSteps<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
