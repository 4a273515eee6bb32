import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatSize, parseSize } from './size.ts';

describe('a size', () => {
  it.each([
    ['0', 0],
    ['512', 512],
    ['1K', 1024],
    ['16M', 16_777_216],
    ['16m', 16_777_216],
    ['16Mi', 16_777_216],
    ['16MiB', 16_777_216],
    ['1G', 1_073_741_824],
    ['', undefined],
    ['M', undefined],
    ['-1', undefined],
    ['1.5M', undefined],
    ['16i', undefined],
    ['16T', undefined],
    ['16 M', undefined],
  ])('%j is %j', (text, octets) => {
    expect(parseSize(text)).toBe(octets);
  });

  it('is read back from its text', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 40 }),
        fc.constantFrom(1, 2 ** 10, 2 ** 20),
        (count, unit) => {
          expect(parseSize(formatSize(count * unit))).toBe(count * unit);
        },
      ),
    );
  });
});
