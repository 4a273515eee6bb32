/**
 * Draws the keys of hashes and the salts of publications and views.
 */
import { randomFillSync } from 'node:crypto';
import { finishHash } from './hash.ts';

/** A random number of 32 bits. Not by the global `crypto`, for which Node.js would load all of Web Crypto. */
export function drawRandom(): number {
  return randomFillSync(new Int32Array(1))[0] ?? 0;
}

/** The same numbers for the same seed, for tests. */
export function createSequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return finishHash(state);
  };
}
