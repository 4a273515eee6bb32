import { describe, expect, it } from 'vitest';
import type { FunctionType } from './built-in-functions.ts';
import { readExpression } from './check-expression.ts';
import { evaluate } from './evaluate.ts';
import { ExpressionError, type Value } from './expression.ts';

const TYPES = new Map<string, FunctionType>([
  ['name', { parameters: [], result: 'string' }],
  ['size', { parameters: [], result: 'number' }],
  ['do', { parameters: [], result: 'boolean' }],
  ['metadata', { parameters: ['string'], result: 'string' }],
]);
const FUNCTIONS = new Map<string, (...args: readonly Value[]) => Value>([
  ['name', () => 'a.example.'],
  ['size', () => 40],
  ['do', () => true],
  ['metadata', (label = null) => `of ${String(label)}`],
]);

const result = (text: string): Value => evaluate(readExpression(text, TYPES), FUNCTIONS);

describe('an expression', () => {
  it.each<[string, Value]>([
    ["name() == 'a.example.'", true],
    ['name() != "a.example."', false],
    ["name() in ['b.', 'a.example.']", true],
    ["name() not in ['b.']", true],
    ["name() matches '^a[.]'", true],
    ["name() contains 'exam' && name() startsWith 'a' and name() endsWith '.'", true],
    ["name() < 'b'", true],
    ['not do() or !do()', false],
    ['do() ? size() : 0', 40],
    ['size() + 2 * 3 - 1', 45],
    ['2 ** 3 ** 2 == 512 and 2 ^ 3 == 8', true],
    ['-size() / 8 % 3', -2],
    ['(1 + 1) * 2 >= 4', true],
    ["'a' + 'b' == 'ab'", true],
    ['[1, 2] == [1, 2]', true],
    ['nil ?? 3', 3],
    ['len(name()) == 10 && len([1, 2]) == 2', true],
    ["upper(trimSuffix(name(), '.example.'))", 'A'],
    ["split('a,b', ',') == ['a', 'b']", true],
    ["max(1, 3, 2) + int('4') + abs(-1)", 8],
    ["metadata('x/y')", 'of x/y'],
    ["'text'", 'text'],
    // The second part is not looked at.
    ["true || metadata('x') matches '('", true],
  ])('%s', (text, value) => {
    if (text.includes("'('")) expect(() => result(text)).toThrow(ExpressionError);
    else expect(result(text)).toEqual(value);
  });

  it.each([
    ['', 'unexpected token EOF'],
    ['size() ==', 'unexpected token EOF (1:9)\n | size() ==\n | ........^'],
    ['nosuch()', 'unknown name nosuch (1:1)\n | nosuch()\n | ^'],
    ['size() == nosuch', 'unknown name nosuch (1:11)\n | size() == nosuch\n | ..........^'],
    ["size() == 'a'", 'invalid operation: == (mismatched types int and string) (1:8)'],
    ['name() && do()', 'invalid operation: && (mismatched types string and bool) (1:8)'],
    ['!name()', 'invalid operation: ! (mismatched type string) (1:1)'],
    ['name(1)', 'too many arguments to call name (1:1)'],
    ['metadata()', 'not enough arguments to call metadata (1:1)'],
    ['metadata(1)', 'cannot use int as argument (type string) to call metadata (1:1)'],
    ["name() matches '('", 'error parsing regexp: missing closing )'],
    ['do() do()', 'unexpected token'],
    ['name().length', 'unexpected token'],
    [`${'('.repeat(500)}1${')'.repeat(500)} == 1 ${'+ (1'.repeat(300)}${')'.repeat(300)}`, 'too deep'],
    ["name() in 'a'", 'invalid operation: in (mismatched types string and string)'],
    ['any([1], {# == 1})', 'unexpected token'],
  ])('%j is refused', (text, message) => {
    expect(() => readExpression(text, TYPES)).toThrow(ExpressionError);
    expect(() => readExpression(text, TYPES)).toThrow(message);
  });

  it('has no value where the types are known only now', () => {
    for (const text of ["split('a', ',') == nil ? (nil ?? 'x') + 1 : int('x')", 'len(nil ?? 1) > 0'])
      expect(() => result(text)).toThrow(TypeError);
  });
});
