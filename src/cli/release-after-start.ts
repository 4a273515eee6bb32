/**
 * Releases memory that only the start of a program needed.
 */
import { systemClock } from '../base/clock.ts';

/** After this time a program has done its recurring work at least once. */
const SETTLED_MILLISECONDS = 3_000;

/** @param release see `releaseProgramPages` */
export function releaseAfterStart(release: () => Promise<void>): void {
  systemClock.after(SETTLED_MILLISECONDS, () => void release());
}
