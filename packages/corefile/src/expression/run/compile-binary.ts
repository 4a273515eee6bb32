/**
 * Operators between two values.
 */
import { Pattern, PatternError } from '@portolan/kernel/base/pattern.ts';
import { needBoolean, needText } from '../built-ins/built-in.ts';
import type { NodeTypes } from '../check/checker.ts';
import type { BinaryOperator, NodeOf } from '../syntax/syntax-tree.ts';
import { fromOctets } from '../text/octets.ts';
import { INT, STRING } from '../types/go-type.ts';
import { type Budget, EvaluationError } from '../values/budget.ts';
import { describeType, isNil } from '../values/describe-value.ts';
import { compareValues, isEqual, isIn } from '../values/equality.ts';
import { add, divide, modulo, multiply, needInteger, power, subtract } from '../values/numbers.ts';
import { type ExpressionValue, GoBytes, GoSlice, toInt } from '../values/value.ts';
import type { CompilePart, Computation } from './run.ts';

type BinaryOperation = (left: ExpressionValue, right: ExpressionValue, budget: Budget) => ExpressionValue;

export function compileBinary(node: NodeOf<'binary'>, compile: CompilePart, types: NodeTypes): Computation {
  const { operator, right } = node;
  const left = compile(node.left);
  if (operator === 'in' && right.kind === 'set') return compileSet(left, right);
  if (operator === 'matches' && right.kind === 'string') return compilePattern(left, right.value);
  const other = compile(right);
  if (operator === '==' || operator === '!=') return compileEquality(node, left, other, types);
  switch (operator) {
    case 'or':
    case '||':
      return (run) => needBoolean(left(run)) || other(run);
    case 'and':
    case '&&':
      return (run) => needBoolean(left(run)) && other(run);
    case '??':
      return (run) => {
        const value = left(run);
        return isNil(value) ? other(run) : value;
      };
    default: {
      const operation = OPERATIONS[operator];
      return (run) => operation(left(run), other(run), run.context.budget);
    }
  }
}

/**
 * Where both sides are known to be of one type, anything else is an error: `findIndex(…) == 1` has no value if nothing is found. So it
 * is in CoreDNS.
 */
function compileEquality(
  node: NodeOf<'binary'>,
  left: Computation,
  right: Computation,
  types: NodeTypes,
): Computation {
  const isEqualWanted = node.operator === '==';
  const type = types.get(node.left)?.name;
  const isKnown = (type === INT.name || type === STRING.name) && type === types.get(node.right)?.name;
  return (run) => {
    const first = left(run);
    const second = right(run);
    if (isKnown && (describeType(first) !== type || describeType(second) !== type))
      throw new EvaluationError(`interface conversion: interface {} is not ${type}`);
    return isEqual(first, second, run.context.budget) === isEqualWanted;
  };
}

/** The keys are all integers, or all strings. */
function compileSet(left: Computation, { items }: NodeOf<'set'>): Computation {
  const keys = new Set(
    items.map((item) => (item.kind === 'integer' || item.kind === 'string' ? item.value : '')),
  );
  const isOfStrings = items[0]?.kind === 'string';
  return (run) => {
    const value = left(run);
    if (typeof value === 'string' && isOfStrings) return keys.has(value);
    if (typeof value === 'bigint' && !isOfStrings) return keys.has(value);
    if (value === null) return keys.has(isOfStrings ? '' : 0n);
    throw new EvaluationError(
      `reflect.Value.MapIndex: value of type ${describeType(value)} is not assignable to type ${isOfStrings ? 'string' : 'int'}`,
    );
  };
}

function compilePattern(left: Computation, source: string): Computation {
  const pattern = new Pattern(fromOctets(source));
  return (run) => {
    const text = left(run);
    return isNil(text) ? false : matchPattern(text, pattern, run.context.budget);
  };
}

function matchPattern(text: ExpressionValue, pattern: Pattern, budget: Budget): boolean {
  const octets = text instanceof GoBytes ? text.octets : needText(text);
  budget.takeSteps(octets.length);
  return pattern.test(fromOctets(octets));
}

const ofTexts =
  (test: (text: string, part: string) => boolean): BinaryOperation =>
  (left, right, budget) => {
    if (isNil(left) || isNil(right)) return false;
    const text = needText(left);
    const part = needText(right);
    budget.takeScan(text.length);
    return test(text, part);
  };

const ofOrder =
  (operator: string, test: (order: number) => boolean): BinaryOperation =>
  (left, right, budget) => {
    if (typeof left === 'string') budget.takeScan(left.length);
    return test(compareValues(left, right, operator));
  };

const OPERATIONS: Readonly<
  Record<Exclude<BinaryOperator, 'or' | '||' | 'and' | '&&' | '??' | '==' | '!='>, BinaryOperation>
> = {
  '<': ofOrder('<', (order) => order < 0),
  '>': ofOrder('>', (order) => order > 0),
  '<=': ofOrder('<=', (order) => order <= 0),
  '>=': ofOrder('>=', (order) => order >= 0),
  in: isIn,
  matches: (left, right, budget) => {
    if (isNil(left) || isNil(right)) return false;
    return matchPattern(left, findPattern(needText(right)), budget);
  },
  contains: ofTexts((text, part) => text.includes(part)),
  startsWith: ofTexts((text, part) => text.startsWith(part)),
  endsWith: ofTexts((text, part) => text.endsWith(part)),
  '..': makeRange,
  '+': (left, right, budget) => {
    if (typeof left !== 'string' || typeof right !== 'string') return add(left, right);
    budget.takeOctets(left.length + right.length);
    return left + right;
  },
  '-': subtract,
  '*': multiply,
  '/': divide,
  '%': modulo,
  '**': power,
  '^': power,
};

function makeRange(left: ExpressionValue, right: ExpressionValue, budget: Budget): GoSlice {
  const from = needInteger(left);
  const to = needInteger(right);
  const size = toInt(to - from + 1n);
  const length = size < 0n ? 0 : Number(size);
  budget.takeElements(length);
  return new GoSlice(
    Array.from({ length }, (_, index) => from + BigInt(index)),
    '[]int',
  );
}

const MAX_PATTERNS = 100;
const patterns = new Map<string, Pattern>();

/** A pattern that is computed is nearly always the same. @throws EvaluationError */
function findPattern(octets: string): Pattern {
  const known = patterns.get(octets);
  if (known !== undefined) return known;
  const made = createPattern(fromOctets(octets));
  if (patterns.size >= MAX_PATTERNS) patterns.clear();
  patterns.set(octets, made);
  return made;
}

/** Longer ones take much memory, and come from a query. */
const MAX_PATTERN_LENGTH = 1000;

function createPattern(source: string): Pattern {
  if (source.length > MAX_PATTERN_LENGTH)
    throw new EvaluationError(`a computed pattern is longer than ${MAX_PATTERN_LENGTH} characters`);
  try {
    return new Pattern(source);
  } catch (error) {
    throw error instanceof PatternError ? new EvaluationError(error.message) : error;
  }
}
