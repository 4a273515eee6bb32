/**
 * Message ids that nobody can guess (RFC 5452 section 4.3), from the system's generator, many at a time.
 */
import { randomFillSync } from 'node:crypto';

const IDS_AT_ONCE = 2048;
/** Tries to find an id that is not in use; a table of ids is never more than half full. */
const TRIES = 64;

const ids = new Uint16Array(IDS_AT_ONCE);
let used = IDS_AT_ONCE;

export function randomId(): number {
  if (used === IDS_AT_ONCE) {
    randomFillSync(ids);
    used = 0;
  }
  const id = ids[used] ?? 0;
  used += 1;
  return id;
}

/** An id that is not among `taken`; undefined if none was found. */
export function unusedId(taken: ReadonlyMap<number, unknown>): number | undefined {
  for (let turn = 0; turn < TRIES; turn += 1) {
    const id = randomId();
    if (!taken.has(id)) return id;
  }
  return undefined;
}
