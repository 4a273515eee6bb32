/**
 * Operations of constants have their value before a query.
 */
import { ExpressionError } from '../syntax/expression-error.ts';
import type { NodeOf, Syntax, SyntaxNode } from '../syntax/syntax-tree.ts';
import { add, divide, modulo, multiply, negate, power, subtract } from '../values/numbers.ts';
import type { ExpressionValue } from '../values/value.ts';

/** @param text of the whole expression @throws ExpressionError: a remainder of 0 */
export function foldConstants(node: SyntaxNode, text: string): Syntax | undefined {
  if (node.kind === 'unary') return foldUnary(node);
  if (node.kind === 'binary') return foldBinary(node, text);
  return node.kind === 'builtIn' ? foldFilters(node) : undefined;
}

function toNumber(node: SyntaxNode): bigint | number | undefined {
  return node.kind === 'integer' || node.kind === 'float' ? node.value : undefined;
}

function toConstant(value: ExpressionValue): Syntax | undefined {
  if (typeof value === 'bigint') return { kind: 'integer', value };
  return typeof value === 'number' ? { kind: 'float', value } : undefined;
}

function foldUnary({ operator, operand }: NodeOf<'unary'>): Syntax | undefined {
  const number = toNumber(operand);
  if (number !== undefined && operator === '-') return toConstant(negate(number));
  if (number !== undefined && operator === '+') return toConstant(number);
  const isLogical = operator === '!' || operator === 'not';
  return isLogical && operand.kind === 'boolean' ? { kind: 'boolean', value: !operand.value } : undefined;
}

const ARITHMETIC: ReadonlyMap<string, (left: ExpressionValue, right: ExpressionValue) => ExpressionValue> =
  new Map([
    ['+', add],
    ['-', subtract],
    ['*', multiply],
    ['/', divide],
    ['**', power],
    ['^', power],
  ]);

function foldBinary(node: NodeOf<'binary'>, text: string): Syntax | undefined {
  const { operator, left, right } = node;
  if (operator === '%') return foldRemainder(node, text);
  if (operator === 'and' || operator === '&&') return foldLogical(node, true);
  if (operator === 'or' || operator === '||') return foldLogical(node, false);
  if (operator === '==') return foldEquality(left, right);
  if (operator === '+' && left.kind === 'string' && right.kind === 'string')
    return { kind: 'string', value: left.value + right.value };
  const first = toNumber(left);
  const second = toNumber(right);
  const calculate = ARITHMETIC.get(operator);
  if (first === undefined || second === undefined || calculate === undefined) return undefined;
  return toConstant(calculate(first, second));
}

function foldRemainder({ left, right, at }: NodeOf<'binary'>, text: string): Syntax | undefined {
  if (left.kind !== 'integer' || right.kind !== 'integer') return undefined;
  if (right.value === 0n) throw new ExpressionError('integer divide by zero', text, at);
  return { kind: 'integer', value: modulo(left.value, right.value) };
}

/**
 * `true && a` is `a`, and `a && false` is false, whether `a` has a value or not.
 *
 * @param neutral the operand that changes nothing
 */
function foldLogical({ left, right }: NodeOf<'binary'>, neutral: boolean): Syntax | undefined {
  const constant = (node: SyntaxNode) => (node.kind === 'boolean' ? node.value : undefined);
  const first = constant(left);
  const second = constant(right);
  if (first === neutral) return right;
  if (second === neutral) return left;
  return first === !neutral || second === !neutral ? { kind: 'boolean', value: !neutral } : undefined;
}

function foldEquality(left: SyntaxNode, right: SyntaxNode): Syntax | undefined {
  const isConstant =
    (left.kind === 'integer' && right.kind === 'integer') ||
    (left.kind === 'string' && right.kind === 'string') ||
    (left.kind === 'boolean' && right.kind === 'boolean');
  return isConstant ? { kind: 'boolean', value: left.value === right.value } : undefined;
}

/** A filter of a filter is one. */
function foldFilters({ name, args }: NodeOf<'builtIn'>): Syntax | undefined {
  const [inner, second] = args;
  if (name !== 'filter' || inner?.kind !== 'builtIn' || inner.name !== 'filter') return undefined;
  const [list, first] = inner.args;
  if (list === undefined || first?.kind !== 'predicate' || second?.kind !== 'predicate') return undefined;
  const { at } = second;
  const body: SyntaxNode = { kind: 'binary', operator: '&&', left: first.body, right: second.body, at };
  return { kind: 'builtIn', name: 'filter', args: [list, { kind: 'predicate', body, at }] };
}
