/**
 * Waiting with a time limit.
 */
import type { Clock } from './clock.ts';

/** Waits for work that never fails, up to a time limit. */
export function within(clock: Clock, milliseconds: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(milliseconds, resolve);
    void work.then(() => {
      timer.cancel();
      resolve();
    });
  });
}
