/**
 * The types of the functions that compute something for each element of a list.
 */
import type { NodeOf, SyntaxNode } from '../syntax/syntax-tree.ts';
import {
  ANY,
  BOOL,
  declaredType,
  dereference,
  type GoType,
  GROUPS,
  INT,
  isList,
  isUnknown,
  LIST,
  STRING,
  toListType,
  UNKNOWN,
} from '../types/go-type.ts';

/** What this file needs of the check. */
interface PredicateChecker {
  infer(node: SyntaxNode): GoType;
  inferPredicate(predicate: SyntaxNode, collection: GoType, pointers?: ReadonlyMap<string, GoType>): GoType;
  fault(node: SyntaxNode, fault: string): Error;
}

/** `#index` of `map`; `reduce` has `#acc` too. */
const INDEX: ReadonlyMap<string, GoType> = new Map([['index', INT]]);
const ACCUMULATOR: ReadonlyMap<string, GoType> = new Map([...INDEX, ['acc', UNKNOWN]]);

/** @throws ExpressionError */
export function inferPredicateCall(node: NodeOf<'builtIn'>, checker: PredicateChecker): GoType {
  const [list = node, predicate, further] = node.args;
  const collection = dereference(checker.infer(list));
  if (!isList(collection) && !isUnknown(collection))
    throw checker.fault(list, `builtin ${node.name} takes only array (got ${collection.name})`);
  const element = collection.element ?? UNKNOWN;
  if (predicate === undefined) return node.name === 'count' ? INT : isUnknown(collection) ? UNKNOWN : element;
  const pointers = node.name === 'map' ? INDEX : node.name === 'reduce' ? ACCUMULATOR : undefined;
  const result = checker.inferPredicate(predicate, collection, pointers);
  if (further !== undefined) checkFurther(node, further, checker);
  if (result.kind === 'nil') throw checker.fault(predicate, describeMissingResult(node.name));
  if (TESTS.has(node.name) && result.kind !== 'bool' && !isUnknown(result))
    throw checker.fault(predicate, `predicate should return boolean (got ${result.name})`);
  return inferResult(node.name, collection, element, result);
}

const TESTS: ReadonlySet<string> = new Set(
  'all none any one filter count find findLast findIndex findLastIndex'.split(' '),
);

/** The order of `sortBy`, and the first value of `reduce`. */
function checkFurther(node: NodeOf<'builtIn'>, further: SyntaxNode, checker: PredicateChecker): void {
  const type = checker.infer(further);
  if (node.name === 'sortBy' && type.kind !== STRING.kind && !isUnknown(type))
    throw checker.fault(further, `sortBy order argument must be a string (got ${type.name})`);
}

function describeMissingResult(name: string): string {
  if (name === 'sum')
    return 'cannot use func(interface {}) as argument (type func(interface {}) bool) to call sum ';
  return `predicate should has ${name === 'reduce' ? 'two' : 'one'} input and one output param`;
}

function inferResult(name: string, collection: GoType, element: GoType, result: GoType): GoType {
  switch (name) {
    case 'filter':
      return isUnknown(collection) ? LIST : toListType(element);
    case 'map':
      return toListType(result);
    case 'count':
    case 'findIndex':
    case 'findLastIndex':
      return INT;
    case 'sum':
      return isUnknown(result) ? ANY : declaredType(result);
    case 'find':
    case 'findLast':
      return isUnknown(collection) ? UNKNOWN : element;
    case 'groupBy':
      return GROUPS;
    case 'sortBy':
      return collection;
    case 'reduce':
      return result;
    default:
      return BOOL;
  }
}
