/**
 * When the memory is given back that only the start of a program needed.
 */
import { systemClock } from '../base/clock.ts';

/** By then a program has done for the first time what it does again and again. */
const SETTLED_MILLISECONDS = 3_000;

/** @param release see `releaseProgramPages` */
export function releaseAfterStart(release: () => Promise<void>): void {
  systemClock.after(SETTLED_MILLISECONDS, () => void release());
}
