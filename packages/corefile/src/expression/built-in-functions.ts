/**
 * The functions of the expression language that a Corefile can write. Those that take a predicate in braces are left out: a brace is a
 * word of the Corefile.
 */
import type { Value } from './expression.ts';

export type ExpressionType = 'string' | 'number' | 'boolean' | 'list' | 'any';

export interface FunctionType {
  readonly parameters: readonly ExpressionType[];
  readonly result: ExpressionType;
  /** Further arguments are of the last type. */
  readonly variadic?: true;
}

export interface BuiltIn extends FunctionType {
  /** @param args of the types stated, or of any type where that was not known before @throws TypeError */
  call(...args: readonly Value[]): Value;
}

function ofText(call: (text: string) => Value, result: ExpressionType = 'string'): BuiltIn {
  return { parameters: ['string'], result, call: (text = null) => call(needText(text)) };
}

function ofTexts(call: (text: string, part: string) => Value, result: ExpressionType): BuiltIn {
  return {
    parameters: ['string', 'string'],
    result,
    call: (text = null, part = null) => call(needText(text), needText(part)),
  };
}

function ofNumbers(call: (...numbers: readonly number[]) => number, variadic?: true): BuiltIn {
  return {
    parameters: ['number'],
    result: 'number',
    ...(variadic && { variadic }),
    call: (...args) => call(...args.map(needNumber)),
  };
}

export const BUILT_IN: ReadonlyMap<string, BuiltIn> = new Map<string, BuiltIn>([
  ['lower', ofText((text) => text.toLowerCase())],
  ['upper', ofText((text) => text.toUpperCase())],
  ['trim', ofText((text) => text.trim())],
  ['trimPrefix', ofTexts((text, part) => (text.startsWith(part) ? text.slice(part.length) : text), 'string')],
  [
    'trimSuffix',
    ofTexts(
      (text, part) => (part !== '' && text.endsWith(part) ? text.slice(0, -part.length) : text),
      'string',
    ),
  ],
  ['hasPrefix', ofTexts((text, part) => text.startsWith(part), 'boolean')],
  ['hasSuffix', ofTexts((text, part) => text.endsWith(part), 'boolean')],
  ['indexOf', ofTexts((text, part) => text.indexOf(part), 'number')],
  ['lastIndexOf', ofTexts((text, part) => text.lastIndexOf(part), 'number')],
  ['split', ofTexts((text, part) => text.split(part), 'list')],
  ['abs', ofNumbers((number = 0) => Math.abs(number))],
  ['ceil', ofNumbers((number = 0) => Math.ceil(number))],
  ['floor', ofNumbers((number = 0) => Math.floor(number))],
  ['max', ofNumbers(Math.max, true)],
  ['min', ofNumbers(Math.min, true)],
  ['int', { parameters: ['any'], result: 'number', call: (value = null) => Math.trunc(toNumber(value)) }],
  ['float', { parameters: ['any'], result: 'number', call: (value = null) => toNumber(value) }],
  ['string', { parameters: ['any'], result: 'string', call: (value = null) => String(value ?? '<nil>') }],
  ['len', { parameters: ['any'], result: 'number', call: (value = null) => computeLength(value) }],
]);

export function needText(value: Value): string {
  if (typeof value !== 'string') throw new TypeError('not a string');
  return value;
}

export function needNumber(value: Value): number {
  if (typeof value !== 'number') throw new TypeError('not a number');
  return value;
}

function toNumber(value: Value): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || Number.isNaN(number)) throw new TypeError('not a number');
  return number;
}

function computeLength(value: Value): number {
  if (typeof value === 'string') return [...value].length;
  if (typeof value === 'object' && value !== null) return value.length;
  throw new TypeError('neither a string nor a list');
}
