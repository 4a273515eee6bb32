/**
 * Evaluates expressions of Corefiles.
 */
import { Pattern } from '@portolan/kernel/base/pattern.ts';
import { BUILT_IN, needNumber, needText } from './built-in-functions.ts';
import type { Expression, Value } from './expression.ts';

/** The functions that depend on the query. @throws TypeError for arguments without a meaning */
export type Functions = ReadonlyMap<string, (...args: readonly Value[]) => Value>;

export type Variables = ReadonlyMap<string, Value>;

const NO_VARIABLES: Variables = new Map();

/** @throws TypeError, PatternError: the expression has no value */
export function evaluate(expression: Expression, functions: Functions, variables = NO_VARIABLES): Value {
  const valueOfPart = (part: Expression): Value => evaluate(part, functions, variables);
  switch (expression.kind) {
    case 'value':
      return expression.value;
    case 'variable': {
      const value = variables.get(expression.name);
      if (value === undefined) throw new TypeError(`unknown name ${expression.name}`);
      return value;
    }
    case 'list':
      return expression.items.map(valueOfPart);
    case 'call': {
      const { name, args } = expression;
      const call = functions.get(name) ?? BUILT_IN.get(name)?.call;
      if (call === undefined) throw new TypeError(`unknown name ${name}`);
      return call(...args.map(valueOfPart));
    }
    case 'unary': {
      const operand = valueOfPart(expression.operand);
      if (expression.operator === '-') return -needNumber(operand);
      return expression.operator === '+' ? needNumber(operand) : !needTruth(operand);
    }
    case 'choice':
      return valueOfPart(
        needTruth(valueOfPart(expression.test)) ? expression.whenTrue : expression.whenFalse,
      );
    case 'binary':
      return evaluateBinary(expression, valueOfPart);
  }
}

function evaluateBinary(
  { operator, left, right }: Extract<Expression, { kind: 'binary' }>,
  valueOfPart: (part: Expression) => Value,
): Value {
  if (operator === 'or' || operator === '||')
    return needTruth(valueOfPart(left)) || needTruth(valueOfPart(right));
  if (operator === 'and' || operator === '&&')
    return needTruth(valueOfPart(left)) && needTruth(valueOfPart(right));
  if (operator === '??') return valueOfPart(left) ?? valueOfPart(right);
  const operation = OPERATIONS.get(operator);
  if (operation === undefined) throw new TypeError(`unknown operator ${operator}`);
  return operation(valueOfPart(left), valueOfPart(right));
}

type Operator = (left: Value, right: Value) => Value;

const ofNumbers =
  (operation: (left: number, right: number) => Value): Operator =>
  (left, right) =>
    operation(needNumber(left), needNumber(right));

const ofTexts =
  (operation: (left: string, right: string) => Value): Operator =>
  (left, right) =>
    operation(needText(left), needText(right));

const OPERATIONS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['==', isEqual],
  ['!=', (left, right) => !isEqual(left, right)],
  ['<', (left, right) => compare(left, right) < 0],
  ['>', (left, right) => compare(left, right) > 0],
  ['<=', (left, right) => compare(left, right) <= 0],
  ['>=', (left, right) => compare(left, right) >= 0],
  ['in', isIn],
  ['not in', (left, right) => !isIn(left, right)],
  ['matches', ofTexts((text, pattern) => compilePattern(pattern).test(text))],
  ['contains', ofTexts((text, part) => text.includes(part))],
  ['startsWith', ofTexts((text, part) => text.startsWith(part))],
  ['endsWith', ofTexts((text, part) => text.endsWith(part))],
  [
    '+',
    (left, right) =>
      typeof left === 'string' ? left + needText(right) : needNumber(left) + needNumber(right),
  ],
  ['-', ofNumbers((left, right) => left - right)],
  ['*', ofNumbers((left, right) => left * right)],
  ['/', ofNumbers((left, right) => left / right)],
  ['%', ofNumbers((left, right) => left % right)],
  ['**', ofNumbers((left, right) => left ** right)],
  ['^', ofNumbers((left, right) => left ** right)],
]);

function isEqual(left: Value, right: Value): boolean {
  if (typeof left !== 'object' || left === null || typeof right !== 'object' || right === null)
    return left === right;
  return left.length === right.length && left.every((item, place) => isEqual(item, right[place] ?? null));
}

function isIn(item: Value, list: Value): boolean {
  if (typeof list !== 'object' || list === null) throw new TypeError('not a list');
  return list.some((each) => isEqual(each, item));
}

/** Texts by octets, as Go compares them. */
function compare(left: Value, right: Value): number {
  if (typeof left === 'string') return Buffer.compare(Buffer.from(left), Buffer.from(needText(right)));
  return needNumber(left) - needNumber(right);
}

function needTruth(value: Value): boolean {
  if (typeof value !== 'boolean') throw new TypeError('not a truth value');
  return value;
}

const MAX_PATTERNS = 100;
const patterns = new Map<string, Pattern>();

/** Patterns are nearly always constant. */
function compilePattern(source: string): Pattern {
  const known = patterns.get(source);
  if (known !== undefined) return known;
  const made = new Pattern(source);
  if (patterns.size >= MAX_PATTERNS) patterns.clear();
  patterns.set(source, made);
  return made;
}
