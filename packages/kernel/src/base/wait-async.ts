/**
 * `Atomics.waitAsync`, typed: the library version that TypeScript compiles against lacks it; Node has it since version 16.
 */
const { waitAsync: wait } = Atomics as unknown as {
  waitAsync(
    array: Int32Array,
    index: number,
    value: number,
  ): { readonly async: boolean; readonly value: unknown };
};

/**
 * Waits until another thread notifies a word of shared memory, without blocking this one.
 *
 * @returns a promise that settles then; undefined if the word already has another value
 */
export function waitAsync(words: Int32Array, index: number, value: number): Promise<unknown> | undefined {
  const { async: mustWait, value: notified } = wait(words, index, value);
  return mustWait ? Promise.resolve(notified) : undefined;
}
