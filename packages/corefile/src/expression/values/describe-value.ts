/**
 * The type of a value in Go, and what identifies it as the key of a map.
 */
import { GoTime } from '../time/go-time.ts';
import { GoZone } from '../time/go-zone.ts';
import { type Budget, EvaluationError } from './budget.ts';
import {
  type ExpressionValue,
  GoBytes,
  GoDuration,
  GoFunction,
  GoInteger,
  GoMap,
  type GoSlice,
} from './value.ts';

/** As `%T` prints it. */
export function describeType(value: ExpressionValue): string {
  if (value === null) return '<nil>';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return 'float64';
  if (typeof value === 'string') return 'string';
  if (value instanceof GoDuration) return 'time.Duration';
  if (value instanceof GoBytes) return '[]uint8';
  if (value instanceof GoTime) return 'time.Time';
  if (value instanceof GoZone) return '*time.Location';
  return value.type;
}

/** Whether a value is nil to `??`, `?.` and `==`. */
export function isNil(value: ExpressionValue): boolean {
  return value === null || (isSlice(value) && value.isNil);
}

export function isSlice(value: ExpressionValue): value is GoSlice {
  return typeof value === 'object' && value !== null && 'items' in value;
}

/** Values with the same text are the same key. @throws EvaluationError: such a value is no key */
export function toIdentity(value: ExpressionValue, budget: Budget): string {
  if (typeof value === 'string') {
    budget.takeScan(value.length);
    return `string ${value}`;
  }
  const type = describeType(value);
  if (isSlice(value) || value instanceof GoBytes || value instanceof GoMap || value instanceof GoFunction)
    throw new EvaluationError(`runtime error: hash of unhashable type ${type}`);
  if (value instanceof GoDuration) return `${type} ${value.nanoseconds}`;
  if (value instanceof GoInteger) return `${type} ${value.value}`;
  if (value instanceof GoTime) return `${type} ${value.nanoseconds} ${value.zone.name}`;
  if (value instanceof GoZone) return `${type} ${value.name}`;
  // The two zeros are equal.
  return `${type} ${value === 0 ? 0 : String(value)}`;
}

/** The value for a key; undefined: none. @throws EvaluationError: the map has keys of another type */
export function findInMap(map: GoMap, key: ExpressionValue, budget: Budget): ExpressionValue | undefined {
  const hasStrings = map.type === 'map[string]interface {}';
  if (hasStrings && key === null) return map.get(toIdentity('', budget));
  if (hasStrings && typeof key !== 'string')
    throw new EvaluationError(
      `reflect.Value.MapIndex: value of type ${describeType(key)} is not assignable to type string`,
    );
  return map.get(toIdentity(key, budget));
}
