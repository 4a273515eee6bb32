/**
 * The types that operators take and give.
 */
import type { BinaryOperator } from '../syntax/syntax-tree.ts';
import {
  BOOL,
  BYTES,
  DURATION,
  FLOAT,
  type GoType,
  INT,
  isAssignable,
  isComparable,
  isInteger,
  isList,
  isNumber,
  isUnknown,
  NIL,
  STRING,
  TIME,
  toListType,
  UNKNOWN,
} from '../types/go-type.ts';

type TypeTest = (type: GoType) => boolean;

const isBool: TypeTest = ({ kind }) => kind === 'bool';
const isString: TypeTest = ({ kind }) => kind === 'string';
const isTime: TypeTest = ({ name }) => name === TIME.name;
const isDuration: TypeTest = ({ name }) => name === DURATION.name;

/** @returns the type of the value, or the fault */
export function inferBinary(operator: BinaryOperator, left: GoType, right: GoType): GoType | string {
  if (operator === 'in') return inferIn(left, right);
  const result = infer(operator, left, right);
  return result ?? `invalid operation: ${operator} (mismatched types ${left.name} and ${right.name})`;
}

/** What is not known may be of any type that the operator takes. */
function mayBe(left: GoType, right: GoType, ...tests: readonly TypeTest[]): boolean {
  if (isUnknown(left)) return isUnknown(right) || tests.some((test) => test(right));
  return isUnknown(right) && tests.some((test) => test(left));
}

function infer(operator: BinaryOperator, left: GoType, right: GoType): GoType | undefined {
  const are = (test: TypeTest): boolean => test(left) && test(right);
  const given = (isValid: boolean, type: GoType): GoType | undefined => (isValid ? type : undefined);
  switch (operator) {
    case '==':
    case '!=':
      return given(isComparable(left, right), BOOL);
    case 'or':
    case '||':
    case 'and':
    case '&&':
      return given(are(isBool) || mayBe(left, right, isBool), BOOL);
    case '<':
    case '>':
    case '>=':
    case '<=': {
      const tests = [isNumber, isString, isTime, isDuration];
      return given(tests.some(are) || mayBe(left, right, ...tests), BOOL);
    }
    case 'matches': {
      const isText = (isString(left) || left.name === BYTES.name) && isString(right);
      return given(isText || mayBe(left, right, isString), BOOL);
    }
    case 'contains':
    case 'startsWith':
    case 'endsWith':
      return given(are(isString) || mayBe(left, right, isString), BOOL);
    case '..':
      return given(are(isInteger) || mayBe(left, right, isInteger), toListType(INT));
    case '/':
    case '**':
    case '^':
      return given(are(isNumber) || mayBe(left, right, isNumber), FLOAT);
    case '%':
      return given(are(isInteger) || mayBe(left, right, isInteger), INT);
    case '??':
      return inferCoalescence(left, right);
    case '+':
    case '-':
    case '*':
      return inferArithmetic(operator, left, right);
    default:
      return undefined;
  }
}

/** The types of time that an operator takes, and what it gives. */
const OF_TIME: Readonly<Record<'+' | '-' | '*', readonly (readonly [TypeTest, TypeTest, GoType])[]>> = {
  '+': [
    [isString, isString, STRING],
    [isTime, isDuration, TIME],
    [isDuration, isTime, TIME],
    [isDuration, isDuration, DURATION],
  ],
  '-': [
    [isTime, isTime, DURATION],
    [isTime, isDuration, TIME],
    [isDuration, isDuration, DURATION],
  ],
  '*': [
    [isNumber, isDuration, DURATION],
    [isDuration, isNumber, DURATION],
    [isDuration, isDuration, DURATION],
  ],
};

const ARITHMETIC: Readonly<Record<'+' | '-' | '*', readonly TypeTest[]>> = {
  '+': [isNumber, isString, isTime, isDuration],
  '-': [isNumber, isTime, isDuration],
  '*': [isNumber, isDuration],
};

function inferArithmetic(operator: '+' | '-' | '*', left: GoType, right: GoType): GoType | undefined {
  if (isNumber(left) && isNumber(right))
    return [left, right].some(({ name }) => name === FLOAT.name) ? FLOAT : INT;
  const known = OF_TIME[operator].find(([first, second]) => first(left) && second(right));
  if (known !== undefined) return known[2];
  return mayBe(left, right, ...ARITHMETIC[operator]) ? UNKNOWN : undefined;
}

function inferCoalescence(left: GoType, right: GoType): GoType {
  if (left.kind === 'nil') return right.kind === 'nil' ? NIL : right;
  if (right.kind === 'nil') return left;
  return isAssignable(right, left) ? left : UNKNOWN;
}

function inferIn(left: GoType, right: GoType): GoType | string {
  if ((isString(left) || isUnknown(left)) && right.kind === 'struct') return BOOL;
  if (right.kind === 'map') {
    const key = right.key ?? UNKNOWN;
    if (isUnknown(left) || isAssignable(left, key)) return BOOL;
    return `cannot use ${left.name} as type ${key.name} in map key`;
  }
  if (isList(right)) {
    const element = right.element ?? UNKNOWN;
    if (isComparable(left, element)) return BOOL;
    return `cannot use ${left.name} as type ${element.name} in array`;
  }
  if (isUnknown(right) || (isUnknown(left) && isString(right))) return BOOL;
  return `invalid operation: in (mismatched types ${left.name} and ${right.name})`;
}
