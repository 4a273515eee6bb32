/**
 * The built-in functions of expr-lang 1.17.8.
 */
import { PREDICATE_FUNCTIONS } from '../syntax/predicate-functions.ts';
import type { BuiltIn, BuiltIns } from './built-in.ts';
import { DATE_FUNCTIONS } from './dates.ts';
import { ENCODING_FUNCTIONS } from './json.ts';
import { LIST_FUNCTIONS } from './lists.ts';
import { NUMBER_FUNCTIONS } from './numbers.ts';
import { TEXT_FUNCTIONS } from './text.ts';

const FUNCTIONS: BuiltIns = new Map([
  ...TEXT_FUNCTIONS,
  ...NUMBER_FUNCTIONS,
  ...LIST_FUNCTIONS,
  ...ENCODING_FUNCTIONS,
  ...DATE_FUNCTIONS,
]);

export function findBuiltIn(name: string): BuiltIn | undefined {
  return FUNCTIONS.get(name);
}

/** Whether a name is that of a built-in function. CoreDNS has `type` of its own in its place. */
export function isBuiltInName(name: string): boolean {
  return name === 'type' || FUNCTIONS.has(name) || PREDICATE_FUNCTIONS.has(name);
}
