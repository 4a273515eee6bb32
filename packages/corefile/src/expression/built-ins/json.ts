/**
 * `toJSON`, `fromJSON`, `toBase64` and `fromBase64`, as Go's encoding packages have them.
 */
import { parseBase64 } from '@portolan/kernel/base/base64.ts';
import { fromOctets, toOctets } from '../text/octets.ts';
import { formatTime } from '../time/format-time.ts';
import { GoTime } from '../time/go-time.ts';
import { GoZone } from '../time/go-zone.ts';
import { ANY, functionType, STRING } from '../types/go-type.ts';
import { type Budget, EvaluationError } from '../values/budget.ts';
import { describeType, isSlice, toIdentity } from '../values/describe-value.ts';
import { sortEntries } from '../values/format-value.ts';
import { type ExpressionValue, GoBytes, GoDuration, GoInteger, GoMap, GoSlice } from '../values/value.ts';
import { type BuiltIn, type BuiltIns, needText } from './built-in.ts';

export const ENCODING_FUNCTIONS: BuiltIns = new Map(
  Object.entries<BuiltIn>({
    toJSON: {
      signatures: [functionType([ANY], STRING)],
      call: ([value = null], { budget }) => toOctets(writeJson(value, '\n', budget)),
    },
    fromJSON: {
      signatures: [functionType([STRING], ANY)],
      call: ([text], { budget }) => readJson(needText(text), budget),
    },
    toBase64: {
      signatures: [functionType([STRING], STRING)],
      call: ([text], { budget }) => {
        budget.takeOctets(needText(text).length * 2);
        return Buffer.from(needText(text), 'latin1').toString('base64');
      },
    },
    fromBase64: {
      signatures: [functionType([STRING], STRING)],
      call: ([text], { budget }) => {
        budget.takeOctets(needText(text).length);
        return readBase64(needText(text));
      },
    },
  }),
);

/** @param line its end, with the indent of what is around */
function writeJson(value: ExpressionValue, line: string, budget: Budget): string {
  budget.takeSteps(1);
  budget.takeOctets(line.length);
  const inner = `${line}  `;
  if (isSlice(value)) {
    if (value.isNil) return 'null';
    const items = value.items.map((item) => inner + writeJson(item, inner, budget));
    return items.length === 0 ? '[]' : `[${items.join()}${line}]`;
  }
  if (value instanceof GoMap) {
    if (value.type !== 'map[string]interface {}') throw unsupported(value.type);
    const entries = sortEntries(value).map(
      ({ key, value: each }) =>
        `${inner}${writeText(needText(key), budget)}: ${writeJson(each, inner, budget)}`,
    );
    return entries.length === 0 ? '{}' : `{${entries.join()}${line}}`;
  }
  return typeof value === 'string' ? writeText(value, budget) : writeSingle(value);
}

function unsupported(type: string): EvaluationError {
  return new EvaluationError(`json: unsupported type: ${type}`);
}

function writeSingle(value: ExpressionValue): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  if (typeof value === 'number') return writeFloat(value);
  if (value instanceof GoInteger) return String(value.value);
  if (value instanceof GoDuration) return String(value.nanoseconds);
  if (value instanceof GoBytes) return `"${Buffer.from(value.octets, 'latin1').toString('base64')}"`;
  if (value instanceof GoTime) return `"${formatTime(value, '2006-01-02T15:04:05.999999999Z07:00')}"`;
  if (value instanceof GoZone) return '{}';
  throw unsupported(describeType(value));
}

/** As JavaScript writes numbers, but for exponents of one digit and the negative zero. */
function writeFloat(value: number): string {
  if (!Number.isFinite(value)) throw new EvaluationError(`json: unsupported value: ${value}`);
  if (Object.is(value, -0)) return '-0';
  return String(value);
}

const ESCAPES = /[<>&\u2028\u2029]/g;

function writeText(octets: string, budget: Budget): string {
  budget.takeOctets(octets.length * 2);
  return JSON.stringify(fromOctets(octets)).replace(
    ESCAPES,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** As encoding/json: deeper values are refused. */
const MAX_DEPTH = 1000;

/** @throws EvaluationError */
function readJson(octets: string, budget: Budget): ExpressionValue {
  budget.takeSteps(octets.length);
  let parsed: unknown;
  try {
    parsed = JSON.parse(fromOctets(octets));
  } catch (error) {
    throw new EvaluationError(error instanceof Error ? `fromJSON: ${error.message}` : 'fromJSON: no JSON');
  }
  return toValue(parsed, 0, budget);
}

function toValue(parsed: unknown, depth: number, budget: Budget): ExpressionValue {
  if (depth > MAX_DEPTH) throw new EvaluationError('json: exceeded max depth');
  if (typeof parsed === 'string') return toOctets(parsed.toWellFormed());
  if (typeof parsed === 'number') {
    if (Number.isFinite(parsed)) return parsed;
    throw new EvaluationError('json: cannot unmarshal number into Go value of type float64');
  }
  if (typeof parsed === 'boolean') return parsed;
  if (Array.isArray(parsed))
    return new GoSlice(parsed.map((item: unknown) => toValue(item, depth + 1, budget)));
  if (typeof parsed !== 'object' || parsed === null) return null;
  const map = new GoMap();
  for (const [name, value] of Object.entries(parsed)) {
    const key = toOctets(name.toWellFormed());
    map.set(toIdentity(key, budget), key, toValue(value, depth + 1, budget));
  }
  return map;
}

/** @throws EvaluationError */
function readBase64(text: string): string {
  // Go skips line ends.
  const octets = parseBase64(text.replace(/[\r\n]/g, ''));
  if (octets === undefined) throw new EvaluationError('illegal base64 data');
  return octets.toString('latin1');
}
