/**
 * Work in steps: a generator that yields after each millisecond or so, so that its caller can do other work in between.
 */
export type Steps<Result> = Generator<void, Result, void>;
