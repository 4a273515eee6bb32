import { expect, it } from 'vitest';
import { heapTrimmer, returnFreedMemory } from './allocator.ts';

type Library = Parameters<typeof returnFreedMemory>[0];

const libraryWith = (func: (prototype: string) => (parameter: number, value: number) => number) =>
  // Only `func` is called.
  ({ func }) as unknown as Library;

it('has glibc keep one heap, and no thresholds that grow', () => {
  const set = new Map<number, number>();
  returnFreedMemory(libraryWith(() => (parameter, value) => Number(set.set(parameter, value).size > 0)));
  expect(set).toEqual(
    new Map([
      [-8, 1],
      [-1, 131_072],
      [-3, 131_072],
    ]),
  );
});

it('does nothing where the C library has no such function', () => {
  const library = libraryWith(() => {
    throw new Error("Cannot find function 'mallopt' in shared library");
  });
  expect(() => returnFreedMemory(library)).not.toThrow();
  expect(() => heapTrimmer(library)()).not.toThrow();
});

it('looks for the function that trims heaps once, and calls it each time', () => {
  const found: string[] = [];
  const paddings: number[] = [];
  const trim = heapTrimmer(
    libraryWith((prototype) => {
      found.push(prototype);
      return (padding) => paddings.push(padding);
    }),
  );
  trim();
  trim();
  expect(found).toEqual(['int malloc_trim(size_t pad)']);
  expect(paddings).toEqual([0, 0]);
});
