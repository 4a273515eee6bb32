/**
 * Functions of lists and maps.
 */
import { countRunes } from '../text/octets.ts';
import {
  ANY,
  ANY_MAP,
  declaredElement,
  declaredType,
  dereference,
  FLOATS,
  functionType,
  type GoType,
  INT,
  INTS,
  isUnknown,
  LIST,
  STRING,
  STRINGS,
} from '../types/go-type.ts';
import { type Budget, EvaluationError } from '../values/budget.ts';
import { describeType, findInMap, isSlice, toIdentity } from '../values/describe-value.ts';
import { compareValues, isEqual } from '../values/equality.ts';
import { needInteger } from '../values/numbers.ts';
import {
  type EvaluationContext,
  type ExpressionValue,
  GoBytes,
  GoDuration,
  GoMap,
  GoSlice,
  NIL_SLICE,
} from '../values/value.ts';
import {
  type BuiltIn,
  type BuiltIns,
  isOneOf,
  makeUnary,
  nameType,
  needCount,
  needItems,
} from './built-in.ts';
import { fetchMember } from './members.ts';

const LISTS: readonly GoType['kind'][] = ['slice', 'array'];

export const LIST_FUNCTIONS: BuiltIns = new Map(
  Object.entries<BuiltIn>({
    len: makeUnary(
      [...LISTS, 'map', 'string'],
      'invalid argument for len (type %s)',
      () => INT,
      ([value = null], { budget }) => {
        if (typeof value === 'string') budget.takeScan(value.length);
        return BigInt(measureLength(value));
      },
    ),
    first: makeUnary(LISTS, 'cannot get first element from %s', inferElement, ([list = null], { budget }) =>
      fetchOrNil(list, 0n, budget),
    ),
    last: makeUnary(LISTS, 'cannot get last element from %s', inferElement, ([list = null], { budget }) =>
      fetchOrNil(list, -1n, budget),
    ),
    get: { call: ([from = null, key = null], { budget }) => get(from, key, budget) },
    take: { infer: inferTake, call: take },
    keys: makeUnary(
      ['map'],
      'cannot get keys from %s',
      () => LIST,
      ([map = null], context) => listEntries(map, 'get keys from', context, ({ key }) => key),
    ),
    values: makeUnary(
      ['map'],
      'cannot get values from %s',
      () => LIST,
      ([map = null], context) => listEntries(map, 'get values from', context, ({ value }) => value),
    ),
    toPairs: makeUnary(
      ['map'],
      'cannot transform %s to pairs',
      () => LIST,
      ([map = null], context) => {
        const pairs = listEntries(
          map,
          'transform',
          context,
          ({ key, value }) => new GoSlice([key, value], '[2]interface {}'),
        );
        return new GoSlice(pairs.items, '[][2]interface {}');
      },
    ),
    fromPairs: makeUnary(LISTS, 'cannot transform %s from pairs', () => ANY_MAP, fromPairs),
    reverse: makeUnary(
      LISTS,
      'cannot reverse %s',
      () => LIST,
      ([list = null], { budget }) => {
        const items = needItems(list, 'reverse');
        budget.takeElements(items.length);
        return new GoSlice(items.toReversed());
      },
    ),
    uniq: makeUnary(
      LISTS,
      'cannot uniq %s',
      () => LIST,
      ([list = null], { budget }) => new GoSlice(uniq(needItems(list, 'uniq'), budget)),
    ),
    concat: { infer: inferConcat, call: concat },
    flatten: makeUnary(
      LISTS,
      'cannot flatten %s',
      () => LIST,
      ([list = null], { budget }) => {
        const items = flatten(needItems(list, 'flatten'), budget);
        budget.takeElements(items.length);
        return new GoSlice(items);
      },
    ),
    sort: {
      signatures: [
        ...[LIST, INTS, FLOATS, STRINGS].map((list) => functionType([list, STRING], LIST)),
        ...[LIST, FLOATS, STRINGS, INTS].map((list) => functionType([list], LIST)),
      ],
      call: sort,
    },
  }),
);

function inferElement(type: GoType): GoType {
  return isUnknown(dereference(type)) ? ANY : declaredElement(type);
}

/** Runes of a string, elements of all else. */
function measureLength(value: ExpressionValue): number {
  if (typeof value === 'string') return countRunes(value);
  if (isSlice(value)) return value.items.length;
  if (value instanceof GoMap) return value.size;
  if (value instanceof GoBytes) return value.octets.length;
  throw new EvaluationError(`invalid argument for len (type ${describeType(value)})`);
}

/** A member, or nil if there is none. */
function fetchOrNil(from: ExpressionValue, key: ExpressionValue, budget: Budget): ExpressionValue {
  try {
    return fetchMember(from, key, budget);
  } catch (error) {
    if (error instanceof EvaluationError) return null;
    throw error;
  }
}

/** A member, or nil if there is none. @throws EvaluationError: the key is of a wrong type */
function get(from: ExpressionValue, key: ExpressionValue, budget: Budget): ExpressionValue {
  if (from === null) return null;
  if (from instanceof GoMap) return findInMap(from, key, budget) ?? null;
  if (isSlice(from) || typeof from === 'string' || from instanceof GoBytes)
    return fetchOrNil(from, needInteger(key), budget);
  return typeof key === 'string' ? fetchOrNil(from, key, budget) : null;
}

function inferTake(types: readonly GoType[]): GoType | string {
  const [list = ANY, count = ANY] = types;
  const fault = needCount(types, 2);
  if (fault !== undefined) return fault;
  if (!isOneOf(list, LISTS)) return `cannot take from ${nameType(list)}`;
  return isOneOf(count, ['int', 'int64']) ? declaredType(list) : `cannot take ${nameType(count)} elements`;
}

function take([list = null, count = null]: readonly ExpressionValue[]): ExpressionValue {
  const items = needItems(list, 'take from');
  if (typeof count === 'number') throw new EvaluationError('cannot take float64 elements');
  const number = count instanceof GoDuration ? count.nanoseconds : needInteger(count);
  if (number < 0n) throw new EvaluationError('reflect.Value.Slice: slice index out of bounds');
  const end = number > BigInt(items.length) ? items.length : Number(number);
  if (list instanceof GoBytes) return new GoBytes(list.octets.slice(0, end));
  return isSlice(list) ? new GoSlice(items.slice(0, end), list.type, list.isNil) : null;
}

function listEntries(
  map: ExpressionValue,
  action: string,
  { budget }: EvaluationContext,
  select: (entry: { readonly key: ExpressionValue; readonly value: ExpressionValue }) => ExpressionValue,
): GoSlice {
  if (!(map instanceof GoMap)) throw new EvaluationError(`cannot ${action} ${describeType(map)}`);
  budget.takeSteps(map.size);
  return new GoSlice(Array.from(map.entries(), select));
}

function fromPairs([list = null]: readonly ExpressionValue[], { budget }: EvaluationContext): GoMap {
  const items = needItems(list, 'transform');
  budget.takeSteps(items.length);
  const map = new GoMap('map[interface {}]interface {}');
  for (const item of items) {
    const [key, value, ...further] = needItems(item, 'make a pair of');
    if (key === undefined || value === undefined || further.length > 0)
      throw new EvaluationError('invalid pair length');
    map.set(toIdentity(key, budget), key, value);
  }
  return map;
}

function uniq(items: readonly ExpressionValue[], budget: Budget): readonly ExpressionValue[] {
  const unique: ExpressionValue[] = [];
  for (const item of items) {
    budget.takeSteps(unique.length + 1);
    if (!unique.some((each) => isEqual(item, each, budget))) unique.push(item);
  }
  return unique;
}

function inferConcat(types: readonly GoType[]): GoType | string {
  if (types.length === 0) return 'invalid number of arguments (expected at least 1, got 0)';
  const wrong = types.find((type) => !isOneOf(type, LISTS));
  return wrong === undefined ? LIST : `cannot concat ${nameType(wrong)}`;
}

function concat(args: readonly ExpressionValue[], { budget }: EvaluationContext): GoSlice {
  const lists = args.map((arg) => needItems(arg, 'concat'));
  const size = lists.reduce((sum, { length }) => sum + length, 0);
  budget.takeElements(size);
  return size === 0 ? NIL_SLICE : new GoSlice(lists.flat());
}

function flatten(items: readonly ExpressionValue[], budget: Budget): ExpressionValue[] {
  budget.takeSteps(items.length);
  return items.flatMap((item) =>
    isSlice(item) || item instanceof GoBytes ? flatten(needItems(item, 'flatten'), budget) : [item],
  );
}

function sort(
  [list = null, order = 'asc']: readonly ExpressionValue[],
  { budget }: EvaluationContext,
): GoSlice {
  if (order !== 'asc' && order !== 'desc') throw new EvaluationError('invalid order, expected asc or desc');
  const isSorted = isSlice(list) && !list.type.includes('[2]');
  if (!isSorted) return NIL_SLICE;
  return new GoSlice(sortValues(list.items, list.items, order, budget));
}

/** @param keys by which the items are sorted, one each @throws EvaluationError: two of them have no order */
export function sortValues(
  items: readonly ExpressionValue[],
  keys: readonly ExpressionValue[],
  order: 'asc' | 'desc',
  budget: Budget,
): readonly ExpressionValue[] {
  budget.takeElements(items.length);
  const rounds = Math.ceil(Math.log2(items.length + 1));
  budget.takeSteps(items.length * rounds);
  for (const key of keys) if (typeof key === 'string') budget.takeScan(key.length * rounds);
  const sign = order === 'asc' ? 1 : -1;
  return items
    .map((item, place) => ({ item, key: keys[place] ?? null }))
    .toSorted((left, right) => sign * compareValues(left.key, right.key) || 0)
    .map(({ item }) => item);
}
