/**
 * `printf`: the verbs of Go's package fmt for the values of templates.
 */
import { isInteger, showValue, type TemplateValue, toGoTypeName } from './values.ts';

interface Verb {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
  readonly letter: string;
}

export function formatValues(format: string, values: readonly TemplateValue[]): string {
  let next = 0;
  const text = format.replace(
    /%([-+# 0]*)(\d*)(?:\.(\d*))?(.)?/gsu,
    (_, flags: string, width: string, precision: string | undefined, letter: string | undefined) => {
      if (letter === undefined) return '%!(NOVERB)';
      if (letter === '%') return '%';
      if (next >= values.length) return `%!${letter}(MISSING)`;
      const value = values[next];
      next += 1;
      const verb = { flags, width: Number(width), precision: toNumber(precision), letter };
      return pad(formatValue(value, verb), verb);
    },
  );
  const extra = values.slice(next).map((value) => `${toGoTypeName(value)}=${showValue(value)}`);
  return extra.length === 0 ? text : `${text}%!(EXTRA ${extra.join(', ')})`;
}

function toNumber(digits: string | undefined): number | undefined {
  return digits === undefined ? undefined : Number(digits);
}

function formatValue(value: TemplateValue, verb: Verb): string {
  if (verb.letter === 'v' || (verb.letter === 't' && typeof value === 'boolean'))
    return signed(showValue(value), value, verb);
  if (typeof value === 'string') return formatText(value, verb);
  if (isInteger(value)) return formatInteger(BigInt(value), verb);
  if (typeof value === 'number') return formatFloat(value, verb);
  return wrongVerb(value, verb);
}

function formatText(text: string, verb: Verb): string {
  const cut = verb.precision === undefined ? text : [...text].slice(0, verb.precision).join('');
  const hexadecimal = Buffer.from(text).toString('hex');
  if (verb.letter === 's') return cut;
  if (verb.letter === 'q') return JSON.stringify(cut);
  if (verb.letter === 'x') return hexadecimal;
  return verb.letter === 'X' ? hexadecimal.toUpperCase() : wrongVerb(text, verb);
}

const BASES: ReadonlyMap<string, readonly [base: number, prefix: string]> = new Map<
  string,
  readonly [base: number, prefix: string]
>([
  ['b', [2, '0b']],
  ['d', [10, '']],
  ['o', [8, '0']],
  ['x', [16, '0x']],
  ['X', [16, '0X']],
]);

function formatInteger(value: bigint, verb: Verb): string {
  if (verb.letter === 'c') return String.fromCodePoint(Number(value));
  if (verb.letter === 'q') return `'${String.fromCodePoint(Number(value))}'`;
  const form = BASES.get(verb.letter);
  if (form === undefined) return wrongVerb(value, verb);
  const [base, prefix] = form;
  const digits = (value < 0n ? -value : value).toString(base).padStart(verb.precision ?? 1, '0');
  const cased = verb.letter === 'X' ? digits.toUpperCase() : digits;
  const shown = `${value < 0n ? '-' : ''}${verb.flags.includes('#') ? prefix : ''}${cased}`;
  return signed(shown, value, verb);
}

function formatFloat(value: number, verb: Verb): string {
  if (/[eE]/.test(verb.letter)) return signed(value.toExponential(verb.precision ?? 6), value, verb);
  if (/[fF]/.test(verb.letter)) return signed(value.toFixed(verb.precision ?? 6), value, verb);
  return /[gG]/.test(verb.letter) ? signed(String(value), value, verb) : wrongVerb(value, verb);
}

function signed(text: string, value: TemplateValue, { flags }: Verb): string {
  const isPositive = (typeof value === 'number' || typeof value === 'bigint') && value >= 0;
  if (!isPositive) return text;
  if (flags.includes('+')) return `+${text}`;
  return flags.includes(' ') ? ` ${text}` : text;
}

function wrongVerb(value: TemplateValue, { letter }: Verb): string {
  return `%!${letter}(${toGoTypeName(value)}=${showValue(value)})`;
}

/** Bounds the memory that a width in a template can use. */
const MAX_WIDTH = 1000;

function pad(text: string, { flags, width, letter }: Verb): string {
  const length = Math.min(width, MAX_WIDTH);
  if (flags.includes('-')) return text.padEnd(length);
  const isNumber = /^[+-]?\d/.test(text) && !/[sqvt]/.test(letter);
  if (!flags.includes('0')) return text.padStart(length);
  const sign = isNumber ? (/^[+-]/.exec(text)?.[0] ?? '') : '';
  return sign + text.slice(sign.length).padStart(length - sign.length, '0');
}
