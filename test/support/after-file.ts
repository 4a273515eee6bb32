/**
 * Work that is done when all tests of a file are over, asked for at any time: vitest hears its own `afterAll` only while it
 * gathers tests, and ignores it without a word inside `beforeAll`.
 */
import { afterAll } from 'vitest';

const works: (() => unknown)[] = [];

afterAll(async () => {
  for (const work of works.splice(0).reverse()) await work();
});

/** Does this at the end, what was asked for last being done first. */
export function afterFile(work: () => unknown): void {
  works.push(work);
}
