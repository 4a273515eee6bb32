/**
 * Members of values: elements, entries and methods.
 */
import { type Budget, EvaluationError } from '../values/budget.ts';
import { describeType, findInMap, isSlice } from '../values/describe-value.ts';
import { formatFloat } from '../values/format-value.ts';
import { needInteger } from '../values/numbers.ts';
import { type ExpressionValue, GoBytes, GoInteger, GoMap, GoSlice, NIL_SLICE } from '../values/value.ts';
import { findMethod } from './methods.ts';

/** `of[key]`. @throws EvaluationError */
export function fetchMember(of: ExpressionValue, key: ExpressionValue, budget: Budget): ExpressionValue {
  const method = typeof key === 'string' ? findMethod(describeType(of), key) : undefined;
  if (method !== undefined) return method.bind(of);
  if (of instanceof GoMap) return findInMap(of, key, budget) ?? missingEntry(of);
  if (isSlice(of)) return of.items[needIndex(key, of.items.length)] ?? null;
  const octets = of instanceof GoBytes ? of.octets : of;
  if (typeof octets === 'string')
    return new GoInteger('uint8', BigInt(octets.charCodeAt(needIndex(key, octets.length))));
  throw new EvaluationError(`cannot fetch ${describeKey(key)} from ${describeType(of)}`);
}

/** The zero of the type of entries. */
function missingEntry({ type }: GoMap): ExpressionValue {
  return type === 'map[interface {}][]interface {}' ? NIL_SLICE : null;
}

/** From the end if it is negative. */
function needIndex(key: ExpressionValue, length: number): number {
  const given = needInteger(key);
  const index = given < 0n ? BigInt(length) + given : given;
  if (index < 0n || index >= BigInt(length))
    throw new EvaluationError(`index out of range: ${index} (array length is ${length})`);
  return Number(index);
}

function describeKey(key: ExpressionValue): string {
  if (typeof key === 'number') return formatFloat(key);
  return typeof key === 'object' ? describeType(key) : String(key);
}

/** `of[from:to]`, within the bounds of the list. @throws EvaluationError */
export function sliceValue(
  of: ExpressionValue,
  from: ExpressionValue | undefined,
  to: ExpressionValue | undefined,
): ExpressionValue {
  const octets = of instanceof GoBytes ? of.octets : of;
  if (!isSlice(of) && typeof octets !== 'string')
    throw new EvaluationError(`cannot slice ${describeType(of)}`);
  const length = isSlice(of) ? of.items.length : typeof octets === 'string' ? octets.length : 0;
  const end = to === undefined ? length : clamp(needInteger(to), length);
  const start = Math.min(from === undefined ? 0 : clamp(needInteger(from), length), end);
  if (isSlice(of)) {
    const type = of.type === '[2]interface {}' ? '[]interface {}' : of.type;
    return new GoSlice(of.items.slice(start, end), type, of.isNil);
  }
  const part = typeof octets === 'string' ? octets.slice(start, end) : '';
  return of instanceof GoBytes ? new GoBytes(part) : part;
}

function clamp(index: bigint, length: number): number {
  const fromStart = index < 0n ? index + BigInt(length) : index;
  if (fromStart < 0n) return 0;
  return fromStart > BigInt(length) ? length : Number(fromStart);
}
