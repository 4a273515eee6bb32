/**
 * Functions of numbers, and conversions to them.
 */
import {
  ANY,
  dereference,
  FLOAT,
  functionType,
  type GoType,
  INT,
  isList,
  isUnknown,
  STRING,
} from '../types/go-type.ts';
import { type Budget, EvaluationError } from '../values/budget.ts';
import { describeType } from '../values/describe-value.ts';
import { listElements } from '../values/elements.ts';
import { compareValues } from '../values/equality.ts';
import { formatValue } from '../values/format-value.ts';
import { needInteger, negate, toNumber, truncateFloat } from '../values/numbers.ts';
import {
  type EvaluationContext,
  type ExpressionValue,
  GoDuration,
  GoInteger,
  toInt,
} from '../values/value.ts';
import { type BuiltIn, type BuiltIns, makeUnary, nameType } from './built-in.ts';

const NUMBERS: readonly GoType['kind'][] = ['int', 'int64', 'uint8', 'float64'];

export const NUMBER_FUNCTIONS: BuiltIns = new Map(
  Object.entries<BuiltIn>({
    abs: makeUnary(
      NUMBERS,
      'invalid argument for abs (type %s)',
      (type) => type,
      ([value = null]) => {
        const number = toNumber(value);
        if (number === undefined)
          throw new EvaluationError(`invalid argument for abs (type ${describeType(value)})`);
        return number < 0 ? negate(value) : value;
      },
    ),
    ceil: rounder('ceil', Math.ceil),
    floor: rounder('floor', Math.floor),
    // Halves away from zero.
    round: rounder('round', (value) => (value < 0 ? -roundUp(-value) : roundUp(value))),
    int: converter('int', INT, convertToInt),
    float: converter('float', FLOAT, convertToFloat),
    string: {
      signatures: [functionType([ANY], STRING)],
      call: ([value = null], { budget }) => formatValue(value, budget),
    },
    max: aggregate('max', (args, { budget }) => findExtreme('max', args, 1, budget)),
    min: aggregate('min', (args, { budget }) => findExtreme('min', args, -1, budget)),
    mean: aggregate('mean', (args, { budget }) => {
      const numbers = collectNumbers('mean', args, budget);
      return numbers.length === 0 ? 0 : numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
    }),
    median: aggregate('median', (args, { budget }) => findMedian(collectNumbers('median', args, budget))),
    bitand: ofBits('bitand', (left, right) => left & right),
    bitor: ofBits('bitor', (left, right) => left | right),
    bitxor: ofBits('bitxor', (left, right) => left ^ right),
    // Go's `&^`, whatever the name says.
    bitnand: ofBits('bitnand', (left, right) => left & ~right),
    bitshl: ofBits('bitshl', (left, right) => (right > 63n ? 0n : left << needShift(right))),
    bitshr: ofBits('bitshr', (left, right) => left >> (right > 63n ? 63n : needShift(right))),
    bitushr: ofBits('bitushr', (left, right) =>
      right > 63n ? 0n : BigInt.asUintN(64, left) >> needShift(right),
    ),
    bitnot: {
      signatures: [functionType([INT], INT)],
      call: ([value = null]) => ~needBits(value, 'bitnot'),
    },
  }),
);

/** Math.round adds a half, which is too much for the float below a half. */
function roundUp(value: number): number {
  const whole = Math.floor(value);
  return value - whole >= 0.5 ? whole + 1 : whole;
}

function rounder(name: string, round: (value: number) => number): BuiltIn {
  return makeUnary(
    NUMBERS,
    `invalid argument for ${name} (type %s)`,
    () => FLOAT,
    ([value = null]) => {
      const number = toNumber(value);
      if (number === undefined)
        throw new EvaluationError(`invalid argument for ${name} (type ${describeType(value)})`);
      return typeof number === 'bigint' ? Number(number) : round(number);
    },
  );
}

function converter(
  name: string,
  result: GoType,
  convert: (value: ExpressionValue) => ExpressionValue,
): BuiltIn {
  return makeUnary(
    [...NUMBERS, 'string'],
    `invalid argument for ${name} (type %s)`,
    () => result,
    ([value = null]) => convert(value),
  );
}

const MAX_INT = 2n ** 63n - 1n;

function convertToInt(value: ExpressionValue): ExpressionValue {
  if (typeof value === 'string') {
    const number = /^[+-]?\d+$/.test(value) ? BigInt(value.replace('+', '')) : undefined;
    if (number === undefined || number > MAX_INT || number < -MAX_INT - 1n)
      throw new EvaluationError(`invalid operation: int(${value})`);
    return number;
  }
  if (typeof value === 'number') return truncateFloat(value);
  if (value instanceof GoDuration) return value.nanoseconds;
  if (value instanceof GoInteger) return value.value;
  return needInteger(value);
}

function convertToFloat(value: ExpressionValue): ExpressionValue {
  if (typeof value === 'string') {
    const number = parseFloatText(value);
    if (number === undefined) throw new EvaluationError(`invalid operation: float(${value})`);
    return number;
  }
  const number = toNumber(value);
  if (number === undefined) throw new EvaluationError(`invalid operation: float(${describeType(value)})`);
  return Number(number);
}

const HEXADECIMAL = /^([+-]?)0x([\da-f]*)\.?([\da-f]*)p([+-]?\d+)$/;

/** `strconv.ParseFloat`. */
function parseFloatText(source: string): number | undefined {
  const text = source.toLowerCase();
  if (/^[+-]?(?:inf|infinity)$/.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
  if (text === 'nan') return Number.NaN;
  const [hexadecimal, sign, whole = '', fraction = '', power] = HEXADECIMAL.exec(text) ?? [];
  let number: number | undefined;
  if (hexadecimal !== undefined && whole + fraction !== '')
    number =
      (sign === '-' ? -1 : 1) * Number(`0x${whole}${fraction}`) * 2 ** (Number(power) - 4 * fraction.length);
  else if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/.test(text)) number = Number(text);
  return number !== undefined && Number.isFinite(number) ? number : undefined;
}

function aggregate(
  name: string,
  call: (args: readonly ExpressionValue[], context: EvaluationContext) => ExpressionValue,
): BuiltIn {
  return {
    call,
    infer: (types) => {
      const [first] = types;
      if (first === undefined) return `not enough arguments to call ${name}`;
      for (const type of types) {
        if (isUnknown(dereference(type)) || isList(type)) return ANY;
        if (!NUMBERS.includes(type.kind)) return `invalid argument for ${name} (type ${nameType(type)})`;
      }
      return first;
    },
  };
}

/** @param sign 1: the greatest, -1: the least; of lists in lists too @returns null: of nothing */
function findExtreme(
  name: string,
  args: readonly ExpressionValue[],
  sign: 1 | -1,
  budget: Budget,
  isInside = false,
): ExpressionValue {
  budget.takeSteps(args.length);
  let extreme: ExpressionValue = null;
  const take = (value: ExpressionValue) => {
    const isBetter =
      extreme === null ||
      (sign === 1 ? compareValues(extreme, value) < 0 : compareValues(extreme, value) > 0);
    if (isBetter) extreme = value;
  };
  for (const arg of args) {
    const items = listElements(arg);
    const number = toNumber(arg);
    if (items !== undefined) {
      const nested = findExtreme(name, items, sign, budget, true);
      if (nested !== null) take(nested);
    } else if (number !== undefined) take(arg);
    else if (args.length === 1 && !isInside) return arg;
    else throw new EvaluationError(`invalid argument for ${name} (type ${describeType(arg)})`);
  }
  return extreme;
}

function collectNumbers(name: string, args: readonly ExpressionValue[], budget: Budget): number[] {
  budget.takeSteps(args.length);
  return args.flatMap((arg) => {
    const items = listElements(arg);
    if (items !== undefined) return collectNumbers(name, items, budget);
    if (arg instanceof GoInteger) return Number(arg.value);
    if (arg instanceof GoDuration) return Number(arg.nanoseconds);
    const number = toNumber(arg);
    if (number === undefined)
      throw new EvaluationError(`invalid argument for ${name} (type ${describeType(arg)})`);
    return Number(number);
  });
}

function findMedian(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

function ofBits(name: string, calculate: (left: bigint, right: bigint) => bigint): BuiltIn {
  return {
    signatures: [functionType([INT, INT], INT)],
    call: ([left = null, right = null]) => toInt(calculate(needBits(left, name), needBits(right, name))),
  };
}

function needBits(value: ExpressionValue, name: string): bigint {
  const number = toNumber(value);
  if (typeof number !== 'bigint')
    throw new EvaluationError(`cannot use ${describeType(value)} as argument (type int) to call ${name}`);
  return number;
}

function needShift(count: bigint): bigint {
  if (count < 0n) throw new EvaluationError(`invalid operation: negative shift count ${count} (type int)`);
  return count;
}
