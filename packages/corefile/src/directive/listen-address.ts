/**
 * Listen addresses of HTTP endpoints: `host:port` or `:port`.
 */
import type { DirectiveCursor } from './directive-cursor.ts';
import { splitAddress } from './go-values.ts';

const REMEDY = 'Write the port behind a colon, as in :8080.';

/** The only argument of the line, or `otherwise` if there is none. @throws DirectiveError */
export function readListenAddress(cursor: DirectiveCursor, otherwise: string): string {
  const [address] = cursor.remainingBetween(0, 1);
  if (address === undefined) return otherwise;
  cursor.bare(splitAddress(address), REMEDY);
  return address;
}
