/**
 * A warning that many queries may cause, told once in a while.
 */
import type { Clock } from '../ground/clock.ts';
import type { Log, LogFields } from '../ground/log.ts';

/** Milliseconds between two warnings of one kind. */
const INTERVAL = 10_000;

/** @returns a function that warns at most every ten seconds, and says how often it did not */
export function createSparingWarning(log: Log, clock: Clock, message: string): (fields: LogFields) => void {
  let last = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return (fields) => {
    const now = clock.monotonic();
    if (now - last < INTERVAL) {
      untold += 1;
      return;
    }
    log.warn(message, { ...fields, untold });
    last = now;
    untold = 0;
  };
}
