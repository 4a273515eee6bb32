/**
 * Rewrites an expression as CoreDNS's compiler does, where one can see it: what is computed before a query, what is not computed at all,
 * and what needs no list.
 */

import {
  listParts,
  type NodeOf,
  type PredicateShortcut,
  type Syntax,
  type SyntaxNode,
} from '../syntax/syntax-tree.ts';
import type { GoType } from '../types/go-type.ts';
import { BOOL, FLOAT, INT, STRING, UNKNOWN } from '../types/go-type.ts';
import { toInt } from '../values/value.ts';
import { foldConstants } from './fold-constants.ts';
import { sumRange } from './sum-range.ts';

/** The types of nodes, also of those that were made. */
export type MutableTypes = Map<SyntaxNode, GoType>;

/** Another node in place of one; undefined: it stays. */
type NodeRule = (node: SyntaxNode, types: MutableTypes) => Syntax | undefined;

/** @throws ExpressionError: a constant part has no value @param text for its place */
export function rewriteExpression(tree: SyntaxNode, types: MutableTypes, text: string): SyntaxNode {
  const fold: NodeRule = (node) => foldConstants(node, text);
  const rules: readonly NodeRule[] = [
    findSet,
    fold,
    compareWithRange,
    joinFilterAndMap,
    countInFilter,
    findInFilter,
    joinPredicates,
    sumRange,
    sumList,
    sumMap,
    countEnough,
  ];
  return rules.reduce((node, rule) => applyRule(node, rule, types), tree);
}

/** Parts first. */
function applyRule(node: SyntaxNode, rule: NodeRule, types: MutableTypes): SyntaxNode {
  const rebuilt = mapParts(node, (part) => applyRule(part, rule, types));
  const type = types.get(node) ?? UNKNOWN;
  if (rebuilt !== node) types.set(rebuilt, type);
  const made = rule(rebuilt, types);
  if (made === undefined) return rebuilt;
  const placed = { ...made, at: node.at };
  types.set(placed, constantType(placed) ?? type);
  return placed;
}

function constantType({ kind }: SyntaxNode): GoType | undefined {
  return { integer: INT, float: FLOAT, string: STRING, boolean: BOOL }[kind as string];
}

/** A copy with other parts; the node itself if it has none. */
function mapParts(node: SyntaxNode, map: (part: SyntaxNode) => SyntaxNode): SyntaxNode {
  switch (node.kind) {
    case 'unary':
      return { ...node, operand: map(node.operand) };
    case 'binary':
      return { ...node, left: map(node.left), right: map(node.right) };
    case 'chain':
    case 'predicate':
      return { ...node, body: map(node.body) };
    case 'member':
      return { ...node, of: map(node.of), property: map(node.property) };
    case 'slice':
      return { ...node, of: map(node.of), from: node.from && map(node.from), to: node.to && map(node.to) };
    case 'call':
      return { ...node, callee: map(node.callee), args: node.args.map(map) };
    case 'builtIn':
      return { ...node, args: node.args.map(map) };
    case 'let':
      return { ...node, value: map(node.value), body: map(node.body) };
    case 'sequence':
      return { ...node, parts: node.parts.map(map) };
    case 'conditional':
      return { ...node, test: map(node.test), whenTrue: map(node.whenTrue), whenFalse: map(node.whenFalse) };
    case 'list':
    case 'set':
      return { ...node, items: node.items.map(map) };
    case 'map':
      return { ...node, pairs: node.pairs.map(({ key, value }) => ({ key: map(key), value: map(value) })) };
    default:
      return node;
  }
}

/** `type() in ['A', 'AAAA']` looks up a key, and values of other types are no keys. */
function findSet(node: SyntaxNode, types: MutableTypes): Syntax | undefined {
  if (node.kind !== 'binary' || node.operator !== 'in' || node.right.kind !== 'list') return undefined;
  const { items } = node.right;
  const areAll = (kind: Syntax['kind']) => items.length > 0 && items.every((item) => item.kind === kind);
  const isIntegers = types.get(node.left)?.kind === 'int' && areAll('integer');
  if (!isIntegers && !areAll('string')) return undefined;
  return { ...node, right: { kind: 'set', items, at: node.right.at } };
}

/** `size() in 1..512` makes no list. */
function compareWithRange(node: SyntaxNode, types: MutableTypes): Syntax | undefined {
  if (node.kind !== 'binary' || node.operator !== 'in' || types.get(node.left)?.kind !== 'int')
    return undefined;
  const { left, right: range, at } = node;
  if (range.kind !== 'binary' || range.operator !== '..') return undefined;
  if (range.left.kind !== 'integer' || range.right.kind !== 'integer') return undefined;
  return {
    kind: 'binary',
    operator: 'and',
    left: { kind: 'binary', operator: '>=', left, right: range.left, at },
    right: { kind: 'binary', operator: '<=', left, right: range.right, at },
  };
}

/** @returns the node, if it is such a call */
function findCall(node: SyntaxNode | undefined, name: string, args: number): NodeOf<'builtIn'> | undefined {
  return node?.kind === 'builtIn' && node.name === name && node.args.length === args ? node : undefined;
}

/** `map(filter(list, a), b)` is one loop. */
function joinFilterAndMap(node: SyntaxNode): Syntax | undefined {
  const [list, predicate] = findCall(node, 'map', 2)?.args ?? [];
  const filter = findCall(list, 'filter', 2);
  if (filter === undefined || filter.shortcut !== undefined) return undefined;
  if (predicate?.kind !== 'predicate' || usesIndex(predicate)) return undefined;
  return { ...filter, shortcut: { map: predicate.body } };
}

function usesIndex(node: SyntaxNode): boolean {
  return node.kind === 'pointer' ? node.name === 'index' : listParts(node).some(usesIndex);
}

/** `len(filter(list, a))` counts. */
function countInFilter(node: SyntaxNode): Syntax | undefined {
  const filter = findCall(findCall(node, 'len', 1)?.args[0], 'filter', 2);
  return filter && { kind: 'builtIn', name: 'count', args: filter.args };
}

/** `first(filter(list, a))` and `filter(list, a)[0]` end with the first. */
function findInFilter(node: SyntaxNode): Syntax | undefined {
  const first = findCall(node, 'first', 1);
  if (first !== undefined) return endAtOne(first.args[0], true);
  const last = findCall(node, 'last', 1);
  if (last !== undefined) return endAtOne(last.args[0], false);
  if (node.kind !== 'member' || node.isOptional || node.property.kind !== 'integer') return undefined;
  const { value } = node.property;
  return value === 0n || value === -1n ? endAtOne(node.of, value === 0n, { isNeeded: true }) : undefined;
}

/** Only the first or the last element is looked for. */
function endAtOne(
  list: SyntaxNode | undefined,
  isFirst: boolean,
  shortcut: PredicateShortcut = {},
): Syntax | undefined {
  const filter = findCall(list, 'filter', 2);
  if (filter === undefined) return undefined;
  const name = isFirst ? 'find' : 'findLast';
  return { kind: 'builtIn', name, args: filter.args, shortcut: { ...filter.shortcut, ...shortcut } };
}

const JOINED: ReadonlyMap<string, readonly [operators: readonly string[], joined: 'same' | 'or']> = new Map([
  ['all', [['and', '&&'], 'same']],
  ['any', [['or', '||'], 'same']],
  ['none', [['and', '&&'], 'or']],
]);

/** `all(list, a) && all(list, b)` is one loop. */
function joinPredicates(node: SyntaxNode, types: MutableTypes): Syntax | undefined {
  if (node.kind !== 'binary') return undefined;
  const { operator, left, right } = node;
  if (left.kind !== 'builtIn' || right.kind !== 'builtIn' || left.name !== right.name) return undefined;
  const [operators, joined] = JOINED.get(left.name) ?? [];
  if (operators === undefined || !operators.includes(operator)) return undefined;
  const [list, first] = left.args;
  const [otherList, second] = right.args;
  if (list === undefined || otherList === undefined || describeShape(list) !== describeShape(otherList))
    return undefined;
  if (types.get(list)?.name !== types.get(otherList)?.name) return undefined;
  if (first?.kind !== 'predicate' || second?.kind !== 'predicate') return undefined;
  const both: Syntax = {
    kind: 'binary',
    operator: joined === 'or' ? (operator === 'and' ? 'or' : '||') : operator,
    left: first.body,
    right: second.body,
  };
  const placed = { ...both, at: node.at };
  const inner = joinPredicates(placed, types);
  const body = inner === undefined ? placed : { ...inner, at: node.at };
  return { kind: 'builtIn', name: left.name, args: [list, { kind: 'predicate', body, at: node.at }] };
}

/** Nodes of the same shape differ at most in their places. */
function describeShape(node: SyntaxNode): string {
  return JSON.stringify(node, (key, value: unknown) => {
    if (key === 'at') return undefined;
    return typeof value === 'bigint' ? `${value}n` : value;
  });
}

/** `sum([a, b])` is `a + b`, also of texts; constants were made a list before. */
function sumList(node: SyntaxNode): Syntax | undefined {
  const list = findCall(node, 'sum', 1)?.args[0];
  if (list?.kind !== 'list' || list.items.length < 2) return undefined;
  const isConstant = list.items.every(({ kind }) => ['integer', 'float', 'string', 'boolean'].includes(kind));
  if (isConstant) return undefined;
  return list.items.reduceRight((right, left) => ({
    kind: 'binary',
    operator: '+',
    left,
    right,
    at: node.at,
  }));
}

function sumMap(node: SyntaxNode): Syntax | undefined {
  const map = findCall(findCall(node, 'sum', 1)?.args[0], 'map', 2);
  return map && { kind: 'builtIn', name: 'sum', args: map.args };
}

/** `count(list, a) > 2` ends with the third. */
function countEnough(node: SyntaxNode): Syntax | undefined {
  if (node.kind !== 'binary' || node.right.kind !== 'integer') return undefined;
  const { operator } = node;
  const { value } = node.right;
  const counted = findCall(node.left, 'count', 2);
  if (counted === undefined) return undefined;
  if ((operator === '>' && value === 0n) || (operator === '>=' && value === 1n))
    return { kind: 'builtIn', name: 'any', args: counted.args };
  const further = { '>': 1n, '<=': 1n, '>=': 0n, '<': 0n }[operator as string];
  if (further === undefined || value < 0n) return undefined;
  const threshold = toInt(value + further);
  return threshold <= 1n ? undefined : { ...node, left: { ...counted, shortcut: { threshold } } };
}
