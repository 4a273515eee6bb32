import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineSplitter, LineTooLongError } from './line-splitter.ts';

function split(pieces: readonly Uint8Array[], limit = 1_000_000): { lines: string[]; held: number } {
  const splitter = new LineSplitter(limit);
  const lines: string[] = [];
  for (const piece of pieces) splitter.push(piece, (line) => lines.push(line));
  return { lines, held: splitter.held };
}

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let start = 0;
  for (const size of sizes) {
    pieces.push(bytes.subarray(start, start + size));
    start += size;
  }
  pieces.push(bytes.subarray(start));
  return pieces;
}

const line = fc
  .string({ unit: 'grapheme', minLength: 1 })
  .filter((text) => !/[\n\r]/.test(text) && text.trim() === text && text !== '');

test('lines come out whole however the octets are cut', () => {
  fc.assert(
    fc.property(fc.array(line), fc.array(fc.nat(7)), (lines, sizes) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
      expect(split(cut(bytes, sizes))).toEqual({ lines, held: 0 });
    }),
  );
});

test('what has no end yet is held, and empty lines and CR are not lines', () => {
  const { lines, held } = split([Buffer.from('a\r\n\n\nb\nrest')]);
  expect(lines).toEqual(['a', 'b']);
  expect(held).toBe(4);
});

test('a line longer than the limit is refused, in one piece or in many', () => {
  expect(() => split([Buffer.from('12345678\n')], 7)).toThrow(LineTooLongError);
  expect(() => split([Buffer.from('1234'), Buffer.from('5678')], 7)).toThrow(LineTooLongError);
  expect(split([Buffer.from('1234'), Buffer.from('567\n')], 7).lines).toEqual(['1234567']);
});

test('a line of several megabytes in small pieces takes time in proportion', () => {
  const bytes = Buffer.alloc(4_000_000, 'x');
  const splitter = new LineSplitter(5_000_000);
  const taken: number[] = [];
  for (let start = 0; start < bytes.length; start += 1_000) {
    splitter.push(bytes.subarray(start, start + 1_000), () => {});
  }
  splitter.push(Buffer.from('\n'), (text) => taken.push(text.length));
  expect(taken).toEqual([4_000_000]);
  expect(splitter.held).toBe(0);
});

test('octets that are no UTF-8 do no harm', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array()), (pieces) => {
      const bytes = Buffer.concat(pieces);
      const feeds = bytes.filter((octet) => octet === 0x0a).length;
      expect(split(pieces).lines.length).toBeLessThanOrEqual(feeds);
    }),
  );
});
