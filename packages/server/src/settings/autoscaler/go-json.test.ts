import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GoJsonError, type JsonNode, parseGoJson, writeGoJson } from './go-json.ts';

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

function parsed(parse: (text: string) => unknown, text: string): { value: unknown } | undefined {
  try {
    return { value: parse(text) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof GoJsonError) return undefined;
    throw error;
  }
}

const ours = (text: string): unknown => toValue(parseGoJson(text));
const theirs = (text: string): unknown => JSON.parse(text);

test('every JSON text is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (text) => {
      expect(parsed(ours, text)).toEqual(parsed(theirs, text));
    }),
  );
});

test('what JSON.parse refuses is refused', () => {
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '"a"',
    '\\',
    '\\u12',
    '\\u12aF',
    '\\n',
    ' ',
    '\n',
    '\u0000',
    'é',
    '0',
    '1',
    '-',
    '.',
    'e',
    'E',
    '+',
    'true',
    'tru',
    'null',
    'false',
    'NaN',
    '\ufeff',
    '/',
  ];
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((chosen) => chosen.join(''));
  fc.assert(
    fc.property(text, (each) => {
      expect(parsed(ours, each)).toEqual(parsed(theirs, each));
    }),
    { numRuns: 2000 },
  );
});

describe('the words are those of Go', () => {
  test.each([
    ['', 'unexpected end of JSON input'],
    ['{"a":1', 'unexpected end of JSON input'],
    ['"a', 'unexpected end of JSON input'],
    ['{a', "invalid character 'a' looking for beginning of object key string"],
    ['{"a" 1', "invalid character '1' after object key"],
    ['{"a":1 "', "invalid character '\"' after object key:value pair"],
    ['[1 2', "invalid character '2' after array element"],
    ['1 x', "invalid character 'x' after top-level value"],
    ['01', "invalid character '1' after top-level value"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['trux', "invalid character 'x' in literal true (expecting 'e')"],
    ['"\\x', "invalid character 'x' in string escape code"],
    ['"\\u12x', "invalid character 'x' in \\u hexadecimal character escape"],
    ['"\n', "invalid character '\\n' in string literal"],
    ['\\', "invalid character '\\\\' looking for beginning of value"],
    ['é', "invalid character 'Ã' looking for beginning of value"],
    ['\u0001', "invalid character '\\x01' looking for beginning of value"],
    ['['.repeat(1001), 'exceeded max depth'],
  ])('%j: %s', (text, words) => {
    expect(() => parseGoJson(text)).toThrow(new GoJsonError(words));
  });
});

test.each([
  ['{ "b": 1.0, "a": [1e21, 1e-7, 0.000001, -0.0], "b": 2 }', '{"a":[1e+21,1e-7,0.000001,-0],"b":2}'],
  ['"<a>&\\u2028"', '"\\u003ca\\u003e\\u0026\\u2028"'],
  ['[true, null, "\\u0001"]', '[true,null,"\\u0001"]'],
])('%s is written as %s', (text, written) => {
  expect(writeGoJson(parseGoJson(text))).toBe(written);
});
