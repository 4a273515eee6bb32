/**
 * Addresses that HTTP endpoints listen on: `host:port` or `:port`.
 */
import type { DirectiveCursor } from './directive-cursor.ts';
import { splitAddress } from './go-values.ts';

const REMEDY = 'Write the port behind a colon, as in :8080.';

/** The one argument of the line, or what stands for it. @throws DirectiveError */
export function readListenAddress(cursor: DirectiveCursor, otherwise: string): string {
  const [address] = cursor.remainingBetween(0, 1);
  if (address === undefined) return otherwise;
  cursor.bare(splitAddress(address), REMEDY);
  return address;
}
