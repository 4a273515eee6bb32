/**
 * The functions that compute something for each element of a list: `filter(split(name(), '.'), # != '')`.
 */
import { needBoolean, needText } from '../built-ins/built-in.ts';
import { sortValues } from '../built-ins/lists.ts';
import { listParts, type NodeOf, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { EvaluationError } from '../values/budget.ts';
import { describeType, toIdentity } from '../values/describe-value.ts';
import { listElements, splitOctets } from '../values/elements.ts';
import { add } from '../values/numbers.ts';
import { type ExpressionValue, GoMap, GoSlice } from '../values/value.ts';
import type { CompilePart, Computation, LoopScope, Run } from './run.ts';

interface PredicateCall {
  readonly list: Computation;
  /** What is computed for each element; the element itself if there is none. */
  readonly predicate: Computation;
  /** The order of `sortBy`, the first value of `reduce`. */
  readonly further: Computation | undefined;
  /** What one turn of the loop takes. */
  readonly steps: number;
  readonly map: Computation | undefined;
  readonly threshold: bigint | undefined;
  readonly isNeeded: boolean;
}

export function compilePredicateCall(node: NodeOf<'builtIn'>, compile: CompilePart): Computation {
  const [list, predicate, further] = node.args;
  const loop = LOOPS.get(node.name);
  if (loop === undefined || list === undefined) throw new TypeError(`no function ${node.name} of elements`);
  const { map, threshold, isNeeded = false } = node.shortcut ?? {};
  const call: PredicateCall = {
    list: compile(list),
    predicate: predicate === undefined ? ({ scope }) => findElement(scope) : compile(predicate),
    further: further && compile(further),
    steps:
      1 + (predicate === undefined ? 0 : countNodes(predicate)) + (map === undefined ? 0 : countNodes(map)),
    map: map && compile(map),
    threshold,
    isNeeded,
  };
  return (run) => {
    const outer = run.scope;
    const scope: LoopScope = { items: needElements(call.list(run)), index: 0, accumulator: null };
    run.scope = scope;
    const value = loop(call, scope, run);
    run.scope = outer;
    return value;
  };
}

function countNodes(node: SyntaxNode): number {
  return listParts(node).reduce((sum, part) => sum + countNodes(part), 1);
}

function findElement(scope: LoopScope | undefined): ExpressionValue {
  return scope?.items[scope.index] ?? null;
}

/** Also of texts, and of maps if there are none. @throws EvaluationError */
function needElements(value: ExpressionValue): readonly ExpressionValue[] {
  if (typeof value === 'string') return splitOctets(value);
  if (value instanceof GoMap && value.size === 0) return [];
  const elements = listElements(value);
  if (elements === undefined) throw new EvaluationError(`cannot iterate over ${describeType(value)}`);
  return elements;
}

/** The values of the predicate, one after another; `scope.index` is the place of the element. */
function* eachResult(
  { predicate, steps }: PredicateCall,
  scope: LoopScope,
  run: Run,
): Generator<ExpressionValue> {
  for (; scope.index < scope.items.length; scope.index++) {
    run.context.budget.takeSteps(steps);
    yield predicate(run);
  }
}

/** From the last element to the first. */
function* eachResultBackwards(
  { predicate, steps }: PredicateCall,
  scope: LoopScope,
  run: Run,
): Generator<ExpressionValue> {
  for (scope.index = scope.items.length - 1; scope.index >= 0; scope.index--) {
    run.context.budget.takeSteps(steps);
    yield predicate(run);
  }
}

type ElementLoop = (call: PredicateCall, scope: LoopScope, run: Run) => ExpressionValue;

/** Whether the predicate is true of an element, or of none. */
function isTrueOfAny(call: PredicateCall, scope: LoopScope, run: Run, wanted: boolean): boolean {
  for (const result of eachResult(call, scope, run)) if (needBoolean(result) === wanted) return true;
  return false;
}

const LOOPS: ReadonlyMap<string, ElementLoop> = new Map(
  Object.entries<ElementLoop>({
    all: (...loop) => !isTrueOfAny(...loop, false),
    none: (...loop) => !isTrueOfAny(...loop, true),
    any: (...loop) => isTrueOfAny(...loop, true),
    one: (...loop) => count(...loop) === 1n,
    count,
    filter,
    map: (call, scope, run) => {
      const results = [...eachResult(call, scope, run)];
      run.context.budget.takeElements(results.length);
      return new GoSlice(results);
    },
    find: (call, scope, run) => find(call, scope, run, eachResult(call, scope, run)),
    findLast: (call, scope, run) => find(call, scope, run, eachResultBackwards(call, scope, run)),
    findIndex: (call, scope, run) => findIndex(scope, eachResult(call, scope, run)),
    findLastIndex: (call, scope, run) => findIndex(scope, eachResultBackwards(call, scope, run)),
    sum: (call, scope, run) => {
      let sum: ExpressionValue = 0n;
      for (const result of eachResult(call, scope, run)) sum = add(result, sum);
      return sum;
    },
    groupBy,
    sortBy,
    reduce,
  }),
);

function count(call: PredicateCall, scope: LoopScope, run: Run): bigint {
  let found = 0n;
  for (const result of eachResult(call, scope, run)) {
    if (needBoolean(result)) found++;
    if (found === call.threshold) break;
  }
  return found;
}

function filter(call: PredicateCall, scope: LoopScope, run: Run): GoSlice {
  const found: ExpressionValue[] = [];
  for (const result of eachResult(call, scope, run))
    if (needBoolean(result)) found.push(call.map === undefined ? findElement(scope) : call.map(run));
  run.context.budget.takeElements(found.length);
  return new GoSlice(found);
}

function find(
  call: PredicateCall,
  scope: LoopScope,
  run: Run,
  results: Iterable<ExpressionValue>,
): ExpressionValue {
  for (const result of results)
    if (needBoolean(result)) return call.map === undefined ? findElement(scope) : call.map(run);
  if (call.isNeeded) throw new EvaluationError('reflect: slice index out of range');
  return null;
}

function findIndex(scope: LoopScope, results: Iterable<ExpressionValue>): ExpressionValue {
  for (const result of results) if (needBoolean(result)) return BigInt(scope.index);
  return null;
}

function groupBy(call: PredicateCall, scope: LoopScope, run: Run): GoMap {
  const { budget } = run.context;
  const groups = new Map<string, { readonly key: ExpressionValue; readonly items: ExpressionValue[] }>();
  for (const key of eachResult(call, scope, run)) {
    const identity = toIdentity(key, budget);
    const group = groups.get(identity) ?? { key, items: [] };
    groups.set(identity, group);
    group.items.push(findElement(scope));
  }
  const map = new GoMap('map[interface {}][]interface {}');
  for (const [identity, { key, items }] of groups) map.set(identity, key, new GoSlice(items));
  return map;
}

function sortBy(call: PredicateCall, scope: LoopScope, run: Run): GoSlice {
  const order = call.further === undefined ? 'asc' : needText(call.further(run));
  if (order !== 'asc' && order !== 'desc') throw new EvaluationError('unknown order, use asc or desc');
  const keys = [...eachResult(call, scope, run)];
  return new GoSlice(sortValues(scope.items, keys, order, run.context.budget));
}

function reduce(call: PredicateCall, scope: LoopScope, run: Run): ExpressionValue {
  if (call.further !== undefined) scope.accumulator = call.further(run);
  else if (scope.items.length === 0) throw new EvaluationError('reduce of empty array with no initial value');
  else {
    scope.accumulator = findElement(scope);
    scope.index = 1;
  }
  for (const result of eachResult(call, scope, run)) scope.accumulator = result;
  return scope.accumulator;
}
