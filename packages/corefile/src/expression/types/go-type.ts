/**
 * The types of expressions, as Go's reflection knows them: their names are those of messages.
 */
export type TypeKind =
  | 'unknown'
  | 'nil'
  | 'bool'
  | 'int'
  | 'int64'
  | 'uint8'
  | 'float64'
  | 'string'
  | 'slice'
  | 'array'
  | 'map'
  | 'struct'
  | 'pointer'
  | 'func';

export interface GoType {
  readonly kind: TypeKind;
  /** Its name in Go. Types with the same name are the same to Go. */
  readonly name: string;
  /** Of a list or map: what is known of the elements; more than the name says, such as `int` for `[]interface {}`. */
  readonly element?: GoType;
  readonly key?: GoType;
  readonly signature?: GoSignature;
}

/** What a function takes and gives. */
export interface GoSignature {
  readonly parameters: readonly GoType[];
  /** The first of one or two results. */
  readonly result: GoType;
  /** Results in Go; those with more than two cannot be called. */
  readonly resultCount: number;
}

/** Nothing is known before the evaluation. */
export const UNKNOWN: GoType = { kind: 'unknown', name: 'unknown' };
/** Known to be anything. */
export const ANY: GoType = { kind: 'unknown', name: 'interface {}' };
/** A variable of which nothing is known. Operators look through the pointer, and functions do not. */
export const POINTER_TO_ANY: GoType = { kind: 'pointer', name: '*interface {}', element: ANY };
export const NIL: GoType = { kind: 'nil', name: 'unknown' };
export const BOOL: GoType = { kind: 'bool', name: 'bool' };
export const INT: GoType = { kind: 'int', name: 'int' };
export const INT64: GoType = { kind: 'int64', name: 'int64' };
export const FLOAT: GoType = { kind: 'float64', name: 'float64' };
export const STRING: GoType = { kind: 'string', name: 'string' };
const UINT8: GoType = { kind: 'uint8', name: 'uint8' };
export const BYTES: GoType = { kind: 'slice', name: '[]uint8', element: UINT8 };
export const STRINGS: GoType = { kind: 'slice', name: '[]string', element: STRING };
export const INTS: GoType = { kind: 'slice', name: '[]int', element: INT };
export const FLOATS: GoType = { kind: 'slice', name: '[]float64', element: FLOAT };
export const LIST: GoType = { kind: 'slice', name: '[]interface {}', element: ANY };
export const MAP: GoType = { kind: 'map', name: 'map[string]interface {}', key: STRING, element: ANY };
export const ANY_MAP: GoType = { kind: 'map', name: 'map[interface {}]interface {}', key: ANY, element: ANY };
export const GROUPS: GoType = {
  kind: 'map',
  name: 'map[interface {}][]interface {}',
  key: ANY,
  element: LIST,
};
export const TIME: GoType = { kind: 'struct', name: 'time.Time' };
export const DURATION: GoType = { kind: 'int64', name: 'time.Duration' };
export const MONTH: GoType = { kind: 'int', name: 'time.Month' };
export const WEEKDAY: GoType = { kind: 'int', name: 'time.Weekday' };
export const ZONE: GoType = { kind: 'pointer', name: '*time.Location' };

/** A list in which more is known of the elements than its type says. */
export function toListType(element: GoType): GoType {
  return { ...LIST, element };
}

/** @param further results behind the first: `error` */
export function functionType(
  parameters: readonly GoType[],
  result: GoType,
  further: readonly string[] = [],
): GoType {
  const names = [result.name, ...further];
  const results = names.length === 1 ? result.name : `(${names.join(', ')})`;
  return {
    kind: 'func',
    name: `func(${parameters.map((parameter) => parameter.name).join(', ')}) ${results}`,
    signature: { parameters, result, resultCount: names.length },
  };
}

export function isUnknown(type: GoType): boolean {
  return type.kind === 'unknown';
}

/** What a pointer points to: operators and most functions look through it. */
export function dereference(type: GoType): GoType {
  if (type.kind !== 'pointer') return type;
  return type.element ?? { kind: 'struct', name: type.name.slice(1) };
}

export function isInteger({ name }: GoType): boolean {
  return name === 'int' || name === 'int64' || name === 'uint8';
}

export function isNumber(type: GoType): boolean {
  return isInteger(type) || type.name === 'float64';
}

export function isList({ kind }: GoType): boolean {
  return kind === 'slice' || kind === 'array';
}

/** Elements as Go's type has them, without what else is known. */
export function declaredElement(type: GoType): GoType {
  return type.name === LIST.name ? ANY : (type.element ?? UNKNOWN);
}

/** Without what is known beyond its type in Go. */
export function declaredType(type: GoType): GoType {
  return type.name === LIST.name ? LIST : type.name === GROUPS.name ? GROUPS : type;
}

/** Whether a value of a type is one of another, as Go assigns. */
export function isAssignable(from: GoType, to: GoType): boolean {
  if (from.kind === 'nil') return ['pointer', 'func', 'map', 'slice'].includes(to.kind) || to === ANY;
  // Of what is not known even to be anything, nothing is assumed.
  if (from.name === UNKNOWN.name || to.name === UNKNOWN.name) return false;
  return from.name === to.name || to.name === ANY.name;
}

/** Whether values of two types can be equal. */
export function isComparable(left: GoType, right: GoType): boolean {
  if (isUnknown(left) || isUnknown(right) || left.kind === 'nil' || right.kind === 'nil') return true;
  if (isNumber(left) && isNumber(right)) return true;
  return (isList(left) && isList(right)) || isAssignable(left, right);
}
