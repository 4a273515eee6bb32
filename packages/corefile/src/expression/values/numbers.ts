/**
 * Arithmetic with Go's integers of 64 bits, floats, times and durations.
 */
import { GoTime } from '../time/go-time.ts';
import { EvaluationError } from './budget.ts';
import { describeType } from './describe-value.ts';
import { type ExpressionValue, GoDuration, GoInteger, toInt } from './value.ts';

/** Of a number that is not a duration, a month or a day of the week. */
export function toNumber(value: ExpressionValue): bigint | number | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value;
  const isPlain = value instanceof GoInteger && (value.type === 'int64' || value.type === 'uint8');
  return isPlain ? value.value : undefined;
}

/** Go's conversion to int on amd64: what does not fit is the least integer. */
export function truncateFloat(value: number): bigint {
  const isWithin = value >= -(2 ** 63) && value < 2 ** 63;
  return isWithin ? BigInt(Math.trunc(value)) : -(2n ** 63n);
}

/** An index or a count. @throws EvaluationError */
export function needInteger(value: ExpressionValue): bigint {
  const number = toNumber(value);
  if (number === undefined) throw new EvaluationError(`invalid operation: int(${describeType(value)})`);
  return typeof number === 'bigint' ? number : truncateFloat(number);
}

/** @throws EvaluationError */
export function needFloat(value: ExpressionValue): number {
  const number = toNumber(value);
  if (number === undefined) throw new EvaluationError(`invalid operation: float(${describeType(value)})`);
  return Number(number);
}

function invalid(left: ExpressionValue, operator: string, right: ExpressionValue): EvaluationError {
  return new EvaluationError(`invalid operation: ${describeType(left)} ${operator} ${describeType(right)}`);
}

/** @throws EvaluationError */
export function negate(value: ExpressionValue): ExpressionValue {
  if (typeof value === 'bigint') return toInt(-value);
  if (typeof value === 'number') return -value;
  if (value instanceof GoInteger && value.type === 'int64')
    return new GoInteger('int64', toInt(-value.value));
  if (value instanceof GoInteger && value.type === 'uint8')
    return new GoInteger('uint8', BigInt.asUintN(8, -value.value));
  throw new EvaluationError(`invalid operation: - ${describeType(value)}`);
}

/** The sum of two numbers; undefined: they are not both numbers. */
function calculate(
  left: ExpressionValue,
  right: ExpressionValue,
  ofIntegers: (left: bigint, right: bigint) => bigint,
  ofFloats: (left: number, right: number) => number,
): bigint | number | undefined {
  if (typeof left === 'bigint' && typeof right === 'bigint') return toInt(ofIntegers(left, right));
  const first = toNumber(left);
  const second = toNumber(right);
  if (first === undefined || second === undefined) return undefined;
  return typeof first === 'bigint' && typeof second === 'bigint'
    ? toInt(ofIntegers(first, second))
    : ofFloats(Number(first), Number(second));
}

/** Of all but texts. @throws EvaluationError */
export function add(left: ExpressionValue, right: ExpressionValue): ExpressionValue {
  const sum = calculate(
    left,
    right,
    (a, b) => a + b,
    (a, b) => a + b,
  );
  if (sum !== undefined) return sum;
  if (left instanceof GoTime && right instanceof GoDuration) return left.add(right.nanoseconds);
  if (left instanceof GoDuration && right instanceof GoTime) return right.add(left.nanoseconds);
  if (left instanceof GoDuration && right instanceof GoDuration)
    return new GoDuration(toInt(left.nanoseconds + right.nanoseconds));
  throw invalid(left, '+', right);
}

/** @throws EvaluationError */
export function subtract(left: ExpressionValue, right: ExpressionValue): ExpressionValue {
  const difference = calculate(
    left,
    right,
    (a, b) => a - b,
    (a, b) => a - b,
  );
  if (difference !== undefined) return difference;
  if (left instanceof GoTime && right instanceof GoTime) return subtractTimes(left, right);
  if (left instanceof GoTime && right instanceof GoDuration) return left.add(toInt(-right.nanoseconds));
  if (left instanceof GoDuration && right instanceof GoDuration)
    return new GoDuration(toInt(left.nanoseconds - right.nanoseconds));
  throw invalid(left, '-', right);
}

const MAX_DURATION = 2n ** 63n - 1n;

/** A longer time than a duration can say is the longest one. */
export function subtractTimes(left: GoTime, right: GoTime): GoDuration {
  const between = left.nanoseconds - right.nanoseconds;
  if (between > MAX_DURATION) return new GoDuration(MAX_DURATION);
  return new GoDuration(between < -MAX_DURATION - 1n ? -MAX_DURATION - 1n : between);
}

/** @throws EvaluationError */
export function multiply(left: ExpressionValue, right: ExpressionValue): ExpressionValue {
  const hasDuration = left instanceof GoDuration || right instanceof GoDuration;
  const product = calculate(
    toPlain(left),
    toPlain(right),
    (a, b) => a * b,
    (a, b) => a * b,
  );
  if (product === undefined) throw invalid(left, '*', right);
  return hasDuration && typeof product === 'bigint' ? new GoDuration(product) : product;
}

function toPlain(value: ExpressionValue): ExpressionValue {
  return value instanceof GoDuration ? value.nanoseconds : value;
}

/** Always a float, also of integers. @throws EvaluationError */
export function divide(left: ExpressionValue, right: ExpressionValue): number {
  const dividend = toNumber(left);
  const divisor = toNumber(right);
  if (dividend === undefined || divisor === undefined) throw invalid(left, '/', right);
  return Number(dividend) / Number(divisor);
}

/** @throws EvaluationError */
export function modulo(left: ExpressionValue, right: ExpressionValue): bigint {
  const dividend = toNumber(left);
  const divisor = toNumber(right);
  if (typeof dividend !== 'bigint' || typeof divisor !== 'bigint') throw invalid(left, '%', right);
  if (divisor === 0n) throw new EvaluationError('runtime error: integer divide by zero');
  return toInt(dividend % divisor);
}

/** @throws EvaluationError */
export function power(left: ExpressionValue, right: ExpressionValue): number {
  const base = needFloat(left);
  const exponent = needFloat(right);
  // Go has 1 for these, and JavaScript has NaN.
  if (base === 1 || (base === -1 && !Number.isFinite(exponent) && !Number.isNaN(exponent))) return 1;
  return base ** exponent;
}
