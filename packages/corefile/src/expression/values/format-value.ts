/**
 * Values as text: `%v` of Go's fmt, which `string()` gives.
 */
import { quoteOctets, toOctets } from '../text/octets.ts';
import { formatDurationText, formatTime } from '../time/format-time.ts';
import { GoTime } from '../time/go-time.ts';
import { GoZone } from '../time/go-zone.ts';
import { MONTHS, WEEKDAYS } from '../time/layout.ts';
import type { Budget } from './budget.ts';
import { describeType, isSlice } from './describe-value.ts';
import { compareValues } from './equality.ts';
import { type ExpressionValue, GoBytes, GoDuration, GoFunction, GoInteger, GoMap } from './value.ts';

/** @returns octets @throws EvaluationError: it is too long */
export function formatValue(value: ExpressionValue, budget: Budget): string {
  budget.takeSteps(1);
  const text = formatWithin(value, budget);
  budget.takeOctets(text.length);
  return text;
}

function formatWithin(value: ExpressionValue, budget: Budget): string {
  if (isSlice(value)) return `[${value.items.map((item) => formatValue(item, budget)).join(' ')}]`;
  if (value instanceof GoMap) {
    const entries = sortEntries(value).map(
      ({ key, value: each }) => `${formatValue(key, budget)}:${formatValue(each, budget)}`,
    );
    return `map[${entries.join(' ')}]`;
  }
  if (value instanceof GoBytes)
    return `[${Array.from(value.octets, (octet) => octet.charCodeAt(0)).join(' ')}]`;
  return formatSingle(value);
}

function formatSingle(value: ExpressionValue): string {
  if (value === null) return '<nil>';
  if (typeof value === 'number') return formatFloat(value);
  if (typeof value !== 'object') return String(value);
  if (value instanceof GoDuration) return toOctets(formatDurationText(value.nanoseconds));
  if (value instanceof GoTime) return formatTime(value);
  if (value instanceof GoZone) return value.name;
  if (value instanceof GoInteger) return formatInteger(value);
  // A function has an address in Go.
  return value instanceof GoFunction ? quoteOctets(value.type) : describeType(value);
}

/** @returns the name of a month or a day */
export function formatInteger({ type, value }: GoInteger): string {
  if (type === 'time.Month') return MONTHS[Number(value) - 1] ?? `%!Month(${value})`;
  if (type === 'time.Weekday') return WEEKDAYS[Number(value)] ?? `%!Weekday(${value})`;
  return String(value);
}

/** `strconv.FormatFloat(value, 'g', -1, 64)`: an exponent below 1e-4, and from 1e6 on. */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const [digits = '', exponent = '0'] = Math.abs(value).toExponential().split('e');
  const power = Number(exponent);
  if (value !== 0 && (power < -4 || power >= 6)) {
    const size = String(Math.abs(power)).padStart(2, '0');
    return `${sign}${digits}e${power < 0 ? '-' : '+'}${size}`;
  }
  return sign + formatPlain(digits.replace('.', ''), power);
}

/** @param digits of which the first one stands before the point, times 10 to a power */
function formatPlain(digits: string, power: number): string {
  if (power < 0) return `0.${'0'.repeat(-power - 1)}${digits}`;
  const whole = digits.slice(0, power + 1).padEnd(power + 1, '0');
  const fraction = digits.slice(power + 1);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Keys of one type by value, as Go's fmt and encoding/json sort them. */
export function sortEntries(map: GoMap): readonly { key: ExpressionValue; value: ExpressionValue }[] {
  return [...map.entries()].toSorted(({ key: left }, { key: right }) => {
    const types = [describeType(left), describeType(right)];
    if (types[0] !== types[1]) return (types[0] ?? '') < (types[1] ?? '') ? -1 : 1;
    if (typeof left === 'boolean') return Number(left) - Number(right);
    return typeof left === 'object' ? 0 : compareValues(left, right);
  });
}
