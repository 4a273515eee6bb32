/**
 * The functions of templates: Go's own, and `parseInt` of the plugin template.
 */
import { formatValues } from './format.ts';
import {
  isInteger,
  isList,
  isMap,
  isTrue,
  showValue,
  TemplateFunctionError,
  type TemplateValue,
  toGoTypeName,
} from './values.ts';

type Values = readonly TemplateValue[];
export type TemplateFunction = (values: Values) => TemplateValue;

/** `and` and `or` stop at the first value that decides, so the code that evaluates arguments runs them. */
export const LAZY_FUNCTIONS: ReadonlySet<string> = new Set(['and', 'or']);

export const FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  ['and', (values) => values.find((value) => !isTrue(value)) ?? values.at(-1)],
  ['or', (values) => values.find(isTrue) ?? values.at(-1)],
  ['not', (values) => !isTrue(only('not', values))],
  ['len', (values) => computeLength(only('len', values))],
  ['index', ([value, ...keys]) => keys.reduce(indexOf, value)],
  ['slice', slice],
  ['print', print],
  ['println', (values) => `${values.map(showValue).join(' ')}\n`],
  ['printf', ([format, ...values]) => formatValues(requireText('printf', format), values)],
  ['html', (values) => escapeHtml(print(values))],
  ['js', (values) => escapeScript(print(values))],
  ['urlquery', (values) => escapeQuery(print(values))],
  ['eq', ([first, ...others]) => requireTwo(others) && others.some((other) => compare(first, other) === 0)],
  ['ne', (values) => compare(...pair(values)) !== 0],
  ['lt', (values) => order(...pair(values)) < 0],
  ['le', (values) => order(...pair(values)) <= 0],
  ['gt', (values) => order(...pair(values)) > 0],
  ['ge', (values) => order(...pair(values)) >= 0],
  ['parseInt', parseInteger],
]);

function only(name: string, values: Values): TemplateValue {
  if (values.length !== 1)
    throw new TemplateFunctionError(`wrong number of args for ${name}: want 1 got ${values.length}`);
  return values[0];
}

function requireTwo(others: Values): true {
  if (others.length === 0) throw new TemplateFunctionError('missing argument for comparison');
  return true;
}

function pair(values: Values): readonly [TemplateValue, TemplateValue] {
  if (values.length !== 2)
    throw new TemplateFunctionError(`wrong number of args for comparison: want 2 got ${values.length}`);
  return [values[0], values[1]];
}

function requireText(name: string, value: TemplateValue): string {
  if (typeof value !== 'string')
    throw new TemplateFunctionError(
      `wrong type for value; expected string; got ${toGoTypeName(value)} (${name})`,
    );
  return value;
}

function computeLength(value: TemplateValue): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (isList(value)) return value.length;
  if (isMap(value)) return value.entries.size;
  throw new TemplateFunctionError(`len of type ${toGoTypeName(value)}`);
}

function indexOf(value: TemplateValue, key: TemplateValue): TemplateValue {
  if (isMap(value)) return value.entries.get(requireText('index', key)) ?? '';
  if (!isList(value) && typeof value !== 'string')
    throw new TemplateFunctionError(
      value === undefined ? 'index of untyped nil' : `can't index item of type ${toGoTypeName(value)}`,
    );
  if (!isInteger(key))
    throw new TemplateFunctionError(`cannot index slice/array with type ${toGoTypeName(key)}`);
  const place = Number(key);
  if (place < 0 || place >= computeLength(value))
    throw new TemplateFunctionError(`index out of range: ${place}`);
  return isList(value) ? value[place] : Buffer.from(value)[place];
}

function slice([value, ...bounds]: Values): TemplateValue {
  if (!isList(value) && typeof value !== 'string')
    throw new TemplateFunctionError(`can't slice item of type ${toGoTypeName(value)}`);
  const length = computeLength(value);
  if (bounds.length > 2) throw new TemplateFunctionError(`too many slice indexes: ${bounds.length}`);
  const [from = 0, to = length] = bounds.map((bound) => {
    if (!isInteger(bound))
      throw new TemplateFunctionError(`cannot index slice/array with type ${toGoTypeName(bound)}`);
    if (bound < 0 || bound > length) throw new TemplateFunctionError(`index out of range: ${bound}`);
    return Number(bound);
  });
  if (from > to) throw new TemplateFunctionError(`invalid slice index: ${from} > ${to}`);
  return isList(value) ? value.slice(from, to) : Buffer.from(value).subarray(from, to).toString();
}

/** Puts a blank between two values if neither is text. */
function print(values: Values): string {
  return values
    .map((value, index) => {
      const before = values[index - 1];
      const isApart = index > 0 && typeof value !== 'string' && typeof before !== 'string';
      return `${isApart ? ' ' : ''}${showValue(value)}`;
    })
    .join('');
}

/** 0 for equal values. */
function compare(a: TemplateValue, b: TemplateValue): number {
  if (a === undefined || b === undefined) return a === b ? 0 : 1;
  if (isInteger(a) && isInteger(b)) return BigInt(a) === BigInt(b) ? 0 : 1;
  if (toGoTypeName(a) !== toGoTypeName(b))
    throw new TemplateFunctionError('incompatible types for comparison');
  if (typeof a === 'object') throw new TemplateFunctionError('non-comparable type');
  return a === b ? 0 : 1;
}

function order(a: TemplateValue, b: TemplateValue): number {
  if (isInteger(a) && isInteger(b)) return Math.sign(Number(BigInt(a) - BigInt(b)));
  if (typeof a === 'number' && typeof b === 'number') return Math.sign(a - b);
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  if (toGoTypeName(a) !== toGoTypeName(b))
    throw new TemplateFunctionError('incompatible types for comparison');
  throw new TemplateFunctionError('invalid type for comparison');
}

/** `strconv.ParseUint`: text, base 2 to 36, bits up to 64. */
function parseInteger([text, base, bits, ...others]: Values): TemplateValue {
  const isWhole = isInteger(base) && isInteger(bits) && others.length === 0;
  if (!isWhole)
    throw new TemplateFunctionError('wrong number of args for parseInt: want 3 (text, base, bits)');
  const source = requireText('parseInt', text);
  const fault = `strconv.ParseUint: parsing ${JSON.stringify(source)}: `;
  const radix = BigInt(base);
  if (radix < 2n || radix > 36n) throw new TemplateFunctionError(`${fault}invalid base ${radix}`);
  if (source === '') throw new TemplateFunctionError(`${fault}invalid syntax`);
  const limit = 1n << BigInt(bits === 0 || bits > 64 ? 64 : bits);
  let value = 0n;
  for (const digit of source.toLowerCase()) {
    const number = '0123456789abcdefghijklmnopqrstuvwxyz'.indexOf(digit);
    if (number < 0 || BigInt(number) >= radix) throw new TemplateFunctionError(`${fault}invalid syntax`);
    value = value * radix + BigInt(number);
    if (value >= limit) throw new TemplateFunctionError(`${fault}value out of range`);
  }
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

function replaceAll(text: string, pattern: RegExp, names: ReadonlyMap<string, string>): string {
  return text.replace(pattern, (character) => names.get(character) ?? character);
}

const HTML: ReadonlyMap<string, string> = new Map([
  ['"', '&#34;'],
  ["'", '&#39;'],
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['\0', '\ufffd'],
]);

function escapeHtml(text: string): string {
  return replaceAll(text, /["'&<>\0]/g, HTML);
}

const SCRIPT: ReadonlyMap<string, string> = new Map([
  ['\\', '\\\\'],
  ["'", "\\'"],
  ['"', '\\"'],
  ['<', '\\u003C'],
  ['>', '\\u003E'],
  ['&', '\\u0026'],
  ['=', '\\u003D'],
]);

function escapeScript(text: string): string {
  const escaped = replaceAll(text, /[\\'"<>&=]/g, SCRIPT);
  return escaped.replace(/[^ -~]/g, (character) =>
    /\p{Cc}/u.test(character)
      ? `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
      : character,
  );
}

function escapeQuery(text: string): string {
  const escaped = encodeURIComponent(text.toWellFormed()).replaceAll('%20', '+');
  return escaped.replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
}
