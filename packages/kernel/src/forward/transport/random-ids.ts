/**
 * Unpredictable message ids (RFC 5452 section 4.3) from the system's generator, drawn many at a time.
 */
import { randomFillSync } from 'node:crypto';

const IDS_AT_ONCE = 2048;

const ids = new Uint16Array(IDS_AT_ONCE);
let used = IDS_AT_ONCE;

/** 0 to 65535. */
export function randomId(): number {
  if (used === IDS_AT_ONCE) {
    randomFillSync(ids);
    used = 0;
  }
  const id = ids[used] ?? 0;
  used += 1;
  return id;
}
