/**
 * Values for filling a template.
 */

/** A whole number is an integer, as in Go; `undefined` is Go's nil, shown as `<no value>`. */
export type TemplateValue =
  | string
  | number
  | bigint
  | boolean
  | undefined
  | readonly TemplateValue[]
  | TemplateMap
  | TemplateStruct;

/** Keys that may be missing: they have no value. */
export interface TemplateMap {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, TemplateValue>;
}

/** Fields that must exist. */
export interface TemplateStruct {
  readonly kind: 'struct';
  /** The name of the type in messages. */
  readonly typeName: string;
  readonly fields: Readonly<Record<string, TemplateValue | TemplateMethod>>;
}

export type TemplateMethod = (words: readonly TemplateValue[]) => TemplateValue;

/** A fault of a function; messages show it after `error calling NAME: `. */
export class TemplateFunctionError extends Error {
  override readonly name = 'TemplateFunctionError';
}

export function isList(value: TemplateValue): value is readonly TemplateValue[] {
  return Array.isArray(value);
}

export function isMap(value: TemplateValue): value is TemplateMap {
  return typeof value === 'object' && !isList(value) && value.kind === 'map';
}

export function isStruct(value: TemplateValue): value is TemplateStruct {
  return typeof value === 'object' && !isList(value) && value.kind === 'struct';
}

export function isInteger(value: TemplateValue): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));
}

/** Whether a condition is true: all values except zero, nil and empty ones. */
export function isTrue(value: TemplateValue): boolean {
  if (isList(value)) return value.length > 0;
  if (isMap(value)) return value.entries.size > 0;
  return isStruct(value) || Boolean(value);
}

/** The type's name in messages. */
export function toGoTypeName(value: TemplateValue): string {
  if (value === undefined) return 'nil';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (isInteger(value)) return 'int';
  if (typeof value === 'number' || typeof value === 'bigint') return 'float64';
  if (isList(value)) return '[]string';
  return value.kind === 'map' ? 'map[string]string' : value.typeName;
}

/** A value as an action prints it. */
export function showValue(value: TemplateValue): string {
  if (value === undefined) return '<no value>';
  if (isList(value)) return `[${value.map(showValue).join(' ')}]`;
  if (isMap(value)) {
    const keys = [...value.entries.keys()].sort();
    return `map[${keys.map((key) => `${key}:${showValue(value.entries.get(key))}`).join(' ')}]`;
  }
  if (isStruct(value)) {
    const fields = Object.values(value.fields).filter((field) => typeof field !== 'function');
    return `{${fields.map(showValue).join(' ')}}`;
  }
  return String(value);
}
