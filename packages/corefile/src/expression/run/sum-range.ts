/**
 * Sums over ranges of constants have their value before a query, and make no list: `sum(1..1000000)`.
 */
import type { NodeOf, Syntax, SyntaxNode } from '../syntax/syntax-tree.ts';
import { toInt } from '../values/value.ts';

interface ConstantRange {
  readonly count: bigint;
  readonly sum: bigint;
}

export function sumRange(node: SyntaxNode): Syntax | undefined {
  if (node.kind !== 'builtIn') return undefined;
  const [list, predicate, first] = node.args;
  const range = readRange(list);
  if (range === undefined) return undefined;
  if (node.name === 'sum') {
    const body = predicate?.kind === 'predicate' ? predicate.body : undefined;
    return predicate === undefined ? toInteger(range.sum) : body && sumBody(body, range);
  }
  if (node.name !== 'reduce' || !addsElements(predicate)) return undefined;
  if (first === undefined) return toInteger(range.sum);
  return first.kind === 'integer' ? toInteger(first.value + range.sum) : undefined;
}

function toInteger(value: bigint): Syntax {
  return { kind: 'integer', value: toInt(value) };
}

/** With the overflow of 64 bits. */
function readRange(node: SyntaxNode | undefined): ConstantRange | undefined {
  if (node?.kind !== 'binary' || node.operator !== '..') return undefined;
  const { left, right } = node;
  if (left.kind !== 'integer' || right.kind !== 'integer' || right.value < left.value) return undefined;
  const count = toInt(right.value - left.value + 1n);
  return { count, sum: toInt(count * toInt(left.value + right.value)) / 2n };
}

/** `#`, `# * 2`, `2 * #`, `# + 2`, `# - 2`, … */
function sumBody(body: SyntaxNode, { count, sum }: ConstantRange): Syntax | undefined {
  if (isElement(body)) return toInteger(sum);
  if (body.kind !== 'binary') return undefined;
  const { operator, left, right } = body;
  const isElementFirst = isElement(left);
  const constant = isElementFirst ? right : isElement(right) ? left : undefined;
  if (constant?.kind !== 'integer') return undefined;
  if (operator === '*') return toInteger(constant.value * sum);
  if (operator === '+') return toInteger(sum + count * constant.value);
  if (operator !== '-') return undefined;
  return toInteger(isElementFirst ? sum - count * constant.value : count * constant.value - sum);
}

function isElement(node: SyntaxNode): node is NodeOf<'pointer'> {
  return node.kind === 'pointer' && node.name === '';
}

/** `# + #acc`, in any order. */
function addsElements(predicate: SyntaxNode | undefined): boolean {
  if (predicate?.kind !== 'predicate' || predicate.body.kind !== 'binary') return false;
  const { operator, left, right } = predicate.body;
  const isAccumulator = (node: SyntaxNode) => node.kind === 'pointer' && node.name === 'acc';
  return (
    operator === '+' &&
    ((isElement(left) && isAccumulator(right)) || (isAccumulator(left) && isElement(right)))
  );
}
