/**
 * `==`, `in` and `<`, as expr-lang's run time has them.
 */
import { GoTime } from '../time/go-time.ts';
import { GoZone } from '../time/go-zone.ts';
import { type Budget, EvaluationError } from './budget.ts';
import { describeType, findInMap, isNil, toIdentity } from './describe-value.ts';
import { listElements } from './elements.ts';
import { toNumber } from './numbers.ts';
import { type ExpressionValue, GoBytes, GoDuration, GoInteger, GoMap, GoSlice } from './value.ts';

/** Numbers of all types are compared by value, and lists by their elements. @throws EvaluationError */
export function isEqual(left: ExpressionValue, right: ExpressionValue, budget: Budget): boolean {
  if (typeof left === 'string' && typeof right === 'string') budget.takeScan(left.length);
  if (typeof left === 'string' || typeof left === 'boolean') return left === right;
  const leftNumber = toNumber(left);
  const rightNumber = toNumber(right);
  if (leftNumber !== undefined && rightNumber !== undefined) return equalNumbers(leftNumber, rightNumber);
  const lists = comparableLists(left, right);
  if (lists !== undefined) return everyPair(lists, budget, (a, b) => isEqual(a, b, budget));
  if (left instanceof GoTime && right instanceof GoTime) return left.nanoseconds === right.nanoseconds;
  return (isNil(left) && isNil(right)) || isSame(left, right, budget);
}

function equalNumbers(left: bigint | number, right: bigint | number): boolean {
  return typeof left === typeof right ? left === right : Number(left) === Number(right);
}

/** The elements of two lists, if one of them is a list of anything, or both are of one type. */
function comparableLists(left: ExpressionValue, right: ExpressionValue): ListPair | undefined {
  const first = listElements(left);
  const second = listElements(right);
  if (first === undefined || second === undefined) return undefined;
  const types = [describeType(left), describeType(right)];
  const isComparable =
    types.every((type) => /^\[\](?:interface \{\}|string|int|uint8)$/.test(type)) &&
    (types.includes('[]interface {}') || types[0] === types[1]);
  return isComparable ? [first, second] : undefined;
}

type ListPair = readonly [readonly ExpressionValue[], readonly ExpressionValue[]];

function everyPair(
  [first, second]: ListPair,
  budget: Budget,
  test: (left: ExpressionValue, right: ExpressionValue) => boolean,
): boolean {
  if (first.length !== second.length) return false;
  budget.takeSteps(first.length);
  return first.every((item, place) => test(item, second[place] ?? null));
}

/** `reflect.DeepEqual`: types must be the same too. */
function isSame(left: ExpressionValue, right: ExpressionValue, budget: Budget): boolean {
  if (typeof left !== 'object' || left === null) return left === right;
  if (describeType(left) !== describeType(right)) return false;
  if (left instanceof GoSlice && right instanceof GoSlice)
    return (
      left.isNil === right.isNil &&
      everyPair([left.items, right.items], budget, (a, b) => isSame(a, b, budget))
    );
  if (left instanceof GoMap && right instanceof GoMap) {
    budget.takeSteps(left.size);
    return (
      left.size === right.size &&
      [...left.entries()].every(({ key, value }) => {
        const other = right.get(toIdentity(key, budget));
        return other !== undefined && isSame(value, other, budget);
      })
    );
  }
  if (left instanceof GoBytes && right instanceof GoBytes) return left.octets === right.octets;
  if (left instanceof GoTime && right instanceof GoTime)
    return left.nanoseconds === right.nanoseconds && left.zone.name === right.zone.name;
  if (left instanceof GoZone && right instanceof GoZone) return left.name === right.name;
  if (left instanceof GoInteger && right instanceof GoInteger) return left.value === right.value;
  if (left instanceof GoDuration && right instanceof GoDuration)
    return left.nanoseconds === right.nanoseconds;
  // Functions are equal to nothing.
  return false;
}

/** @throws EvaluationError */
export function isIn(item: ExpressionValue, container: ExpressionValue, budget: Budget): boolean {
  if (container === null) return false;
  if (container instanceof GoMap) return findInMap(container, item, budget) !== undefined;
  // A time has no fields that an expression could name.
  if (container instanceof GoTime && typeof item === 'string') return false;
  const items = listElements(container);
  if (items === undefined)
    throw new EvaluationError(`operator "in" not defined on ${describeType(container)}`);
  budget.takeSteps(items.length);
  return items.some((each) => isEqual(each, item, budget));
}

/** Below 0: the first is less. Both are false for NaN. @throws EvaluationError: they have no order */
export function compareValues(left: ExpressionValue, right: ExpressionValue, operator = '<'): number {
  if (typeof left === 'string' && typeof right === 'string') return left < right ? -1 : left > right ? 1 : 0;
  const [first, second] = toOrdered(left, right);
  if (first === undefined || second === undefined)
    throw new EvaluationError(`invalid operation: ${describeType(left)} ${operator} ${describeType(right)}`);
  if (typeof first === typeof second)
    return first < second ? -1 : first > second ? 1 : first === second ? 0 : Number.NaN;
  return Number(first) - Number(second);
}

function toOrdered(
  left: ExpressionValue,
  right: ExpressionValue,
): readonly [bigint | number | undefined, bigint | number | undefined] {
  if (left instanceof GoTime && right instanceof GoTime) return [left.nanoseconds, right.nanoseconds];
  if (left instanceof GoDuration && right instanceof GoDuration) return [left.nanoseconds, right.nanoseconds];
  return [toNumber(left), toNumber(right)];
}
