/**
 * Waiting with an end.
 */
import type { Clock } from '../base/clock.ts';

/** Waits for work that never fails, but no longer than that. */
export function within(clock: Clock, milliseconds: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(milliseconds, resolve);
    void work.then(() => {
      timer.cancel();
      resolve();
    });
  });
}
