/**
 * What a built-in function takes and gives, and how it finds its arguments.
 */
import { ANY, dereference, type GoType, isUnknown } from '../types/go-type.ts';
import { EvaluationError } from '../values/budget.ts';
import { describeType } from '../values/describe-value.ts';
import { listElements } from '../values/elements.ts';
import type { EvaluationContext, ExpressionValue } from '../values/value.ts';

export interface BuiltIn {
  /** How it may be called; the first that fits counts. */
  readonly signatures?: readonly GoType[];
  /** Or what it gives for arguments; a text is the fault of such a call. */
  readonly infer?: (types: readonly GoType[]) => GoType | string;
  /** @throws EvaluationError */
  readonly call: (args: readonly ExpressionValue[], context: EvaluationContext) => ExpressionValue;
}

/** By name. */
export type BuiltIns = ReadonlyMap<string, BuiltIn>;

/** Whether the type of an argument is one of those, or is not known before the evaluation. */
export function isOneOf(type: GoType, kinds: readonly GoType['kind'][]): boolean {
  const looked = dereference(type);
  return isUnknown(looked) || kinds.includes(looked.kind);
}

/** The name of a type in the messages of `infer`. */
export function nameType(type: GoType): string {
  return type.kind === 'nil' ? '%!s(<nil>)' : type.name;
}

/**
 * A function of one argument.
 *
 * @param fault of an argument of another kind, with `%s` in place of the name of its type
 */
export function makeUnary(
  kinds: readonly GoType['kind'][],
  fault: string,
  inferResult: (type: GoType) => GoType,
  call: BuiltIn['call'],
): BuiltIn {
  return {
    call,
    infer: (types) => {
      const [type = ANY] = types;
      return (
        needCount(types, 1) ??
        (isOneOf(type, kinds) ? inferResult(type) : fault.replace('%s', nameType(type)))
      );
    },
  };
}

/** @returns the fault, if the number of arguments is another */
export function needCount(types: readonly GoType[], count: number): string | undefined {
  if (types.length === count) return undefined;
  return `invalid number of arguments (expected ${count}, got ${types.length})`;
}

/** @throws EvaluationError */
export function needText(value: ExpressionValue = null): string {
  if (typeof value !== 'string')
    throw new EvaluationError(`interface conversion: interface {} is ${describeType(value)}, not string`);
  return value;
}

/** @throws EvaluationError */
export function needBoolean(value: ExpressionValue = null): boolean {
  if (typeof value !== 'boolean')
    throw new EvaluationError(`interface conversion: interface {} is ${describeType(value)}, not bool`);
  return value;
}

/** The elements of a list or of bytes. @throws EvaluationError */
export function needItems(value: ExpressionValue = null, action: string): readonly ExpressionValue[] {
  const items = listElements(value);
  if (items === undefined) throw new EvaluationError(`cannot ${action} ${describeType(value)}`);
  return items;
}
