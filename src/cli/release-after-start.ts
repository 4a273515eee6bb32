/**
 * Releases memory that only the start of a program needed.
 */
import { systemClock } from '../base/clock.ts';

/**
 * At first soon, since half of the memory of a start is needed never again, and a burst of queries may come at once. Then when a program
 * has done its recurring work at least once.
 */
const RELEASED_AFTER_MILLISECONDS = [500, 3_000];

/** @param release see `releasePages` */
export function releaseAfterStart(release: () => Promise<void>): void {
  for (const milliseconds of RELEASED_AFTER_MILLISECONDS)
    systemClock.after(milliseconds, () => void release());
}
