/**
 * The values of expressions, as Go has them at run time. `null` is nil, a `bigint` is an int, a `number` is a float64, and a string is
 * octets.
 */
import type { GoTime } from '../time/go-time.ts';
import type { GoZone } from '../time/go-zone.ts';
import type { Budget } from './budget.ts';

export type ExpressionValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | GoInteger
  | GoDuration
  | GoBytes
  | GoSlice
  | GoMap
  | GoTime
  | GoZone
  | GoFunction;

export type SliceType =
  | '[]interface {}'
  | '[]string'
  | '[]int'
  | '[][2]interface {}'
  /** An array, which an expression meets only as a pair of `toPairs`. */
  | '[2]interface {}';

export class GoSlice {
  readonly items: readonly ExpressionValue[];
  readonly type: SliceType;
  /** Nil equals `nil`, and an empty list does not. */
  readonly isNil: boolean;

  constructor(items: readonly ExpressionValue[], type: SliceType = '[]interface {}', isNil = false) {
    this.items = items;
    this.type = type;
    this.isNil = isNil;
  }
}

export const NIL_SLICE = new GoSlice([], '[]interface {}', true);

export type MapType =
  | 'map[string]interface {}'
  | 'map[interface {}]interface {}'
  | 'map[interface {}][]interface {}';

interface MapEntry {
  readonly key: ExpressionValue;
  readonly value: ExpressionValue;
}

/** A map, in the order of its insertions; Go has none. */
export class GoMap {
  readonly type: MapType;
  readonly #entries = new Map<string, MapEntry>();

  constructor(type: MapType = 'map[string]interface {}') {
    this.type = type;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** @param identity of `toIdentity` */
  get(identity: string): ExpressionValue | undefined {
    return this.#entries.get(identity)?.value;
  }

  set(identity: string, key: ExpressionValue, value: ExpressionValue): void {
    this.#entries.set(identity, { key, value });
  }

  entries(): Iterable<MapEntry> {
    return this.#entries.values();
  }
}

/** An octet string that is not a text: `[]byte`. */
export class GoBytes {
  readonly octets: string;

  constructor(octets: string) {
    this.octets = octets;
  }
}

/** Whole numbers that are not of type int: an element of bytes, and what functions of time give. */
export class GoInteger {
  readonly type: 'int64' | 'uint8' | 'time.Month' | 'time.Weekday';
  readonly value: bigint;

  constructor(type: GoInteger['type'], value: bigint) {
    this.type = type;
    this.value = value;
  }
}

export class GoDuration {
  readonly nanoseconds: bigint;

  constructor(nanoseconds: bigint) {
    this.nanoseconds = nanoseconds;
  }
}

/** What a function may use: the bounds of the evaluation, and its time. */
export interface EvaluationContext {
  readonly budget: Budget;
  /** Milliseconds since 1970. */
  now(): number;
}

type FunctionBody = (args: readonly ExpressionValue[], context: EvaluationContext) => ExpressionValue;

/** A function of the environment, or a method of a value. */
export class GoFunction {
  /** How messages print its type: `func(string) string`. */
  readonly type: string;
  readonly parameters: readonly string[];
  /** @throws EvaluationError */
  readonly call: FunctionBody;

  /** @param parameters the types of its arguments in Go */
  constructor(type: string, parameters: readonly string[], call: FunctionBody) {
    this.type = type;
    this.parameters = parameters;
    this.call = call;
  }
}

/** A whole number of 64 bits; more bits are lost, as in Go. */
export function toInt(value: bigint): bigint {
  return BigInt.asIntN(64, value);
}
