/**
 * The seed of all random data in tests: random for each run, or set by `TEST_SEED`.
 *
 * As a setup file of vitest it gives fast-check the seed. A failing property then prints seed, path and the smallest counterexample.
 */
import fc from 'fast-check';

const { TEST_SEED } = process.env;

/** An unsigned number of 31 bits. */
export const seed = TEST_SEED === undefined ? Math.floor(Math.random() * 2 ** 31) : parseSeed(TEST_SEED);

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

function parseSeed(text: string): number {
  if (!/^-?\d+$/.test(text)) throw new Error(`TEST_SEED: not a whole number: ${text}`);
  return Number(text);
}
