import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ListReader, MalformedListError } from './list-reader.ts';

function read(pieces: readonly Uint8Array[], limits?: { item: number; envelope: number }) {
  const items: unknown[] = [];
  const reader = new ListReader((item) => items.push(item), limits);
  for (const piece of pieces) reader.push(piece);
  return { items, envelope: reader.finish() };
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

const odd = fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', 'items', '日') });
const item = fc.oneof(fc.jsonValue(), odd, fc.record({ items: fc.array(odd), name: odd }));

test('gives the items of any list, however it is cut and laid out', () => {
  fc.assert(
    fc.property(
      fc.array(item),
      fc.jsonValue(),
      fc.array(fc.nat(9)),
      fc.nat(2),
      (items, metadata, sizes, indent) => {
        const list = { kind: 'List', metadata: { metadata, items: [1] }, items, after: 'x' };
        const bytes = Buffer.from(JSON.stringify(list, undefined, indent));
        const result = read(cut(bytes, sizes));
        // JSON has no -0.
        expect(result.items).toEqual(JSON.parse(JSON.stringify(items)));
        expect(result.envelope).toEqual({ ...JSON.parse(JSON.stringify(list)), items: [] });
      },
    ),
  );
});

test('a list without items is one', () => {
  expect(read([Buffer.from('{"kind":"List","items":null}')])).toEqual({
    items: [],
    envelope: { kind: 'List', items: null },
  });
  expect(read([Buffer.from('{"items": [ \n ]}')]).items).toEqual([]);
});

test.each([
  '',
  '{',
  '{"items":[{},',
  '{"items":[{}',
  '{"items":[{]}]}',
  '<html>',
  '{"items":[x]}',
  ']]]]',
  '{"items":[{}]}}',
])('%s is refused', (text) => {
  expect(() => read([Buffer.from(text)])).toThrow(MalformedListError);
});

test('parts that are too long are refused', () => {
  const limits = { item: 10, envelope: 30 };
  expect(() => read([Buffer.from(`{"items":["${'x'.repeat(20)}"]}`)], limits)).toThrow(
    'an item is longer than 10',
  );
  expect(() => read([Buffer.from(`{"kind":"${'x'.repeat(30)}"}`)], limits)).toThrow('more than 30 octets');
});

test('any octets at all either are a list or are refused', () => {
  const pieces = fc.array(
    fc.oneof(
      fc.uint8Array(),
      odd.map((text) => Buffer.from(text)),
      fc.constant(Buffer.from('{"items":[')),
    ),
  );
  fc.assert(
    fc.property(pieces, (octets) => {
      try {
        read(octets);
      } catch (error) {
        expect(error).toBeInstanceOf(MalformedListError);
      }
    }),
  );
});
