/**
 * The value of a number as it is written. The messages are those of expr-lang, around those of Go's strconv.
 */
import { quoteOctets } from '../text/octets.ts';

type NumberValue =
  | { readonly kind: 'integer'; readonly value: bigint }
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'bad'; readonly fault: string };

const MAX_INTEGER = 2n ** 63n - 1n;

/** @param word of the lexer */
export function parseNumberLiteral(word: string): NumberValue {
  const text = word.replaceAll('_', '');
  const prefix = text.slice(0, 2).toLowerCase();
  if (prefix === '0x') return parseIntegerLiteral(text, 'hex', /^0x[\da-f]+$/i);
  if (/[.e]/i.test(text)) return parseFloatLiteral(text);
  if (prefix === '0b') return parseIntegerLiteral(text, 'binary', /^0b[01]+$/i);
  if (prefix === '0o') return parseIntegerLiteral(text, 'octal', /^0o[0-7]+$/i);
  return parseIntegerLiteral(text, 'integer', /^\d+$/);
}

function parseIntegerLiteral(text: string, form: string, syntax: RegExp): NumberValue {
  const fault = (reason: string): NumberValue => ({
    kind: 'bad',
    fault: `invalid ${form} literal: strconv.ParseInt: parsing ${quoteOctets(text)}: ${reason}`,
  });
  if (!syntax.test(text)) return fault('invalid syntax');
  const value = BigInt(text.toLowerCase());
  return value > MAX_INTEGER ? fault('value out of range') : { kind: 'integer', value };
}

function parseFloatLiteral(text: string): NumberValue {
  const fault = (reason: string): NumberValue => ({
    kind: 'bad',
    fault: `invalid float literal: strconv.ParseFloat: parsing ${quoteOctets(text)}: ${reason}`,
  });
  if (!/^(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return fault('invalid syntax');
  const value = Number(text);
  return Number.isFinite(value) ? { kind: 'float', value } : fault('value out of range');
}
