import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonError, type JsonNode, parseJson, showJson, writeJson } from './json-node.ts';

function toValue(node: JsonNode): unknown {
  switch (node.kind) {
    case 'object':
      return Object.fromEntries(node.fields.map(([name, value]) => [name, toValue(value)]));
    case 'array':
      return node.items.map(toValue);
    case 'number':
      return Number(node.text);
    case 'null':
      return null;
    default:
      return node.value;
  }
}

const number = (text: string): JsonNode => ({ kind: 'number', text });

test('reads every JSON text as JSON.parse does', () => {
  fc.assert(
    fc.property(
      fc.json({ maxDepth: 4, stringUnit: 'binary' }),
      fc.constantFrom(undefined, 2, '\t'),
      (text, space) => {
        const spaced = JSON.stringify(JSON.parse(text), undefined, space);
        expect(toValue(parseJson(spaced))).toEqual(JSON.parse(text));
      },
    ),
    { numRuns: 50 },
  );
});

test.each([
  '',
  ' ',
  '{"a":1',
  "{'a':1}",
  '{"a":1,}',
  '{"a":1} x',
  '01',
  'NaN',
  '{"a":Infinity}',
  '\ufeff1',
  '1 /* x */',
])('refuses %j', (text) => {
  expect(() => parseJson(text)).toThrow(/^not JSON: \S/);
});

test.each(['1', '-0', '2.0', '1e1', '1E+2', '-1.5e-7', '9007199254740993', '1e999'])(
  'keeps the digits of %s',
  (text) => {
    expect(parseJson(`[${text}]`)).toEqual({ kind: 'array', items: [number(text)] });
  },
);

test('keeps all fields in order, whatever their names', () => {
  expect(parseJson(String.raw`{"a":1, "7" : 2,"a":null,"__proto__":3, "":4, "x\":1":5}`)).toEqual({
    kind: 'object',
    fields: [
      ['a', number('1')],
      ['7', number('2')],
      ['a', { kind: 'null' }],
      ['__proto__', number('3')],
      ['', number('4')],
      ['x":1', number('5')],
    ],
  });
});

test('tells strings from numbers', () => {
  expect(parseJson('["n1", "s", "1", ""]')).toEqual({
    kind: 'array',
    items: ['n1', 's', '1', ''].map((value) => ({ kind: 'string', value })),
  });
});

test.each([1000, 1001, 100_000])('bounds nesting: %d levels', (levels) => {
  const text = '['.repeat(levels) + ']'.repeat(levels);
  const refusal = new JsonError('nested more than 1000 levels deep');
  if (levels <= 1000) expect(writeJson(parseJson(text))).toBe(text);
  else expect(() => parseJson(text)).toThrow(refusal);
});

test('reads a string of a million escapes', () => {
  const value = '\n'.repeat(1_000_000);
  expect(parseJson(JSON.stringify(value))).toEqual({ kind: 'string', value });
});

test.each([
  ['{ "b": 1.0, "a": [1e21, 1e-7, 0.000001, -0.0], "b": 2 }', '{"a":[1e+21,1e-7,0.000001,-0],"b":2}'],
  ['"<a>&\\u2028"', '"\\u003ca\\u003e\\u0026\\u2028"'],
  ['[true, null, "\\u0001"]', '[true,null,"\\u0001"]'],
])('writes %s as %s', (text, written) => {
  expect(writeJson(parseJson(text))).toBe(written);
});

test('does not write a number beyond 64-bit floats', () => {
  expect(() => writeJson(number('1e999'))).toThrow('beyond the range of 64-bit floats: 1e999');
});

test.each([
  ['{"a":1}', 'an object'],
  ['[1]', 'a list'],
  ['"x"', '"x"'],
  ['1.0', '1.0'],
  [`1${'0'.repeat(100)}`, `1${'0'.repeat(59)}…`],
])('shows %s as %s', (text, shown) => {
  expect(showJson(parseJson(text))).toBe(shown);
});
