/**
 * Registers work for the end of all tests of a file, at any time: vitest accepts its own `afterAll` only while it collects
 * tests, and silently ignores it inside `beforeAll`.
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
