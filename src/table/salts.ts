/**
 * Draws the keys of hashes and the salts of publications and views.
 */
import { finishHash } from './hash.ts';

/** A random number of 32 bits. */
export function drawRandom(): number {
  return crypto.getRandomValues(new Int32Array(1))[0] ?? 0;
}

/** The same numbers for the same seed, for tests. */
export function createSequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return finishHash(state);
  };
}
