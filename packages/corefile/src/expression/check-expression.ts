/**
 * Checks names, arguments and operands of an expression before it is used, as CoreDNS does when it reads a Corefile.
 */
import { Pattern, PatternError } from '@portolan/kernel/base/pattern.ts';
import { BUILT_IN, type ExpressionType, type FunctionType } from './built-in-functions.ts';
import { type Expression, ExpressionError, parseExpression, unknownName } from './expression.ts';

/** The functions of an environment by name, beside the built-in ones. */
export type FunctionTypes = ReadonlyMap<string, FunctionType>;

/** The types of variables by name. */
export type VariableTypes = ReadonlyMap<string, ExpressionType>;

const NO_VARIABLES: VariableTypes = new Map();

/** @throws ExpressionError */
export function readExpression(text: string, functions: FunctionTypes): Expression {
  return readTypedExpression(text, functions, NO_VARIABLES).expression;
}

/** The expression and the type of its value. @throws ExpressionError */
export function readTypedExpression(
  text: string,
  functions: FunctionTypes,
  variables: VariableTypes,
): { readonly expression: Expression; readonly type: ExpressionType } {
  const expression = parseExpression(text);
  return { expression, type: inferType(expression, { text, functions, variables }) };
}

interface CheckedExpression {
  readonly text: string;
  readonly functions: FunctionTypes;
  readonly variables: VariableTypes;
}

function inferType(expression: Expression, of: CheckedExpression): ExpressionType {
  switch (expression.kind) {
    case 'value':
      return expression.value === null ? 'any' : (typeof expression.value as ExpressionType);
    case 'variable': {
      const known = of.variables.get(expression.name);
      if (known === undefined) throw unknownName(expression.name, of.text);
      return known;
    }
    case 'list':
      for (const item of expression.items) inferType(item, of);
      return 'list';
    case 'call':
      return typeOfCall(expression, of);
    case 'unary':
      return typeOfUnary(expression, of);
    case 'binary':
      return typeOfBinary(expression, of);
    case 'choice': {
      need(inferType(expression.test, of), 'boolean', '?:', of);
      const then = inferType(expression.whenTrue, of);
      const otherwise = inferType(expression.whenFalse, of);
      return then === otherwise ? then : 'any';
    }
  }
}

function typeOfCall(
  { name, args }: Extract<Expression, { kind: 'call' }>,
  of: CheckedExpression,
): ExpressionType {
  const known = of.functions.get(name) ?? BUILT_IN.get(name);
  if (known === undefined) throw unknownName(name, of.text);
  const { parameters, result, variadic = false } = known;
  const at = of.text.indexOf(name);
  if (args.length < parameters.length)
    throw new ExpressionError(`not enough arguments to call ${name}`, of.text, at);
  if (args.length > parameters.length && !variadic)
    throw new ExpressionError(`too many arguments to call ${name}`, of.text, at);
  args.forEach((arg, place) => {
    const wanted = parameters[place] ?? parameters.at(-1) ?? 'any';
    const given = inferType(arg, of);
    if (!fits(given, wanted))
      throw new ExpressionError(
        `cannot use ${goName(given)} as argument (type ${goName(wanted)}) to call ${name}`,
        of.text,
        at,
      );
  });
  return result;
}

function typeOfUnary(
  { operator, operand }: Extract<Expression, { kind: 'unary' }>,
  of: CheckedExpression,
): ExpressionType {
  const wanted = operator === '-' || operator === '+' ? 'number' : 'boolean';
  need(inferType(operand, of), wanted, operator, of);
  return wanted;
}

const COMPARISONS: ReadonlySet<string> = new Set(['<', '>', '<=', '>=']);
const LOGICAL: ReadonlySet<string> = new Set(['or', '||', 'and', '&&']);
const OF_STRINGS: ReadonlySet<string> = new Set(['matches', 'contains', 'startsWith', 'endsWith']);

function typeOfBinary(
  expression: Extract<Expression, { kind: 'binary' }>,
  of: CheckedExpression,
): ExpressionType {
  const { operator } = expression;
  const left = inferType(expression.left, of);
  const right = inferType(expression.right, of);
  const isSame = fits(left, right);
  const accept = (isValid: boolean): void => {
    if (isValid) return;
    const fault = `invalid operation: ${operator} (mismatched types ${goName(left)} and ${goName(right)})`;
    throw new ExpressionError(fault, of.text, Math.max(0, of.text.indexOf(operator)));
  };
  if (LOGICAL.has(operator)) {
    accept(fits(left, 'boolean') && fits(right, 'boolean'));
    return 'boolean';
  }
  if (OF_STRINGS.has(operator)) {
    accept(fits(left, 'string') && fits(right, 'string'));
    if (operator === 'matches') checkPattern(expression.right, of);
    return 'boolean';
  }
  if (operator === 'in' || operator === 'not in') accept(fits(right, 'list'));
  else if (operator === '==' || operator === '!=') accept(isSame);
  else if (COMPARISONS.has(operator)) accept(isSame && left !== 'boolean' && left !== 'list');
  else if (operator === '??') return isSame ? left : 'any';
  else if (operator === '+') {
    accept(isSame && left !== 'boolean');
    return left;
  } else {
    accept(fits(left, 'number') && fits(right, 'number'));
    return 'number';
  }
  return 'boolean';
}

/** A constant pattern is known now. */
function checkPattern(pattern: Expression, { text }: CheckedExpression): void {
  if (pattern.kind !== 'value' || typeof pattern.value !== 'string') return;
  try {
    new Pattern(pattern.value);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new ExpressionError(error.message, text, Math.max(0, text.indexOf('matches')));
  }
}

function need(
  given: ExpressionType,
  wanted: ExpressionType,
  operator: string,
  { text }: CheckedExpression,
): void {
  if (fits(given, wanted)) return;
  const at = Math.max(0, text.indexOf(operator));
  throw new ExpressionError(`invalid operation: ${operator} (mismatched type ${goName(given)})`, text, at);
}

function fits(given: ExpressionType, wanted: ExpressionType): boolean {
  return given === wanted || given === 'any' || wanted === 'any';
}

const GO_NAMES: Readonly<Record<ExpressionType, string>> = {
  string: 'string',
  number: 'int',
  boolean: 'bool',
  list: '[]interface {}',
  any: 'unknown',
};

function goName(type: ExpressionType): string {
  return GO_NAMES[type];
}
