/**
 * Limits of listeners, as `https` and `grpc_server` have them.
 */
import type { DirectiveCursor } from './directive-cursor.ts';
import { parseInteger } from './go-values.ts';

/**
 * Reads the value of a limit.
 *
 * @param name its property
 * @param before the value that the property has already; undefined: none
 * @param remedy how to write it
 * @returns from 0
 */
export function readListenerLimit(
  cursor: DirectiveCursor,
  name: string,
  before: number | undefined,
  remedy: string,
): number {
  const [text = ''] = cursor.remainingBetween(1, 1);
  const limit = parseInteger(text);
  if (limit.kind === 'bad') throw cursor.error(`invalid ${name} value '${text}': ${limit.fault}`, remedy);
  if (limit.value < 0) throw cursor.error(`${name} must be a non-negative integer: ${limit.value}`, remedy);
  if (before !== undefined)
    throw cursor.error(`${name} already defined for this server block`, 'Take one of them out.');
  return limit.value;
}
