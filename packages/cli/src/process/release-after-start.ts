/**
 * Releases memory that only the start of a program needed, or a burst of work.
 */
import { type Clock, systemClock } from '@portolan/kernel/base/clock.ts';

/**
 * At first soon, since half of the memory of a start is needed never again, and a burst of queries may come at once. Then when a program
 * has done its recurring work at least once.
 */
const RELEASED_AFTER_MILLISECONDS = [500, 3_000];
/** Afterwards: on Node.js 24 the compiler leaves 20 to 50 MB free in the heaps of its threads once a program becomes busy. */
const CHECKED_EACH_MILLISECONDS = 10_000;
const GROWTH_OCTETS = 8 * 1024 * 1024;

/**
 * @param release see `releasePages`
 * @param resident octets that the process has in memory
 */
export function releaseAfterStart(
  release: () => Promise<void>,
  clock: Clock = systemClock,
  resident: () => number = () => process.memoryUsage.rss(),
): void {
  for (const milliseconds of RELEASED_AFTER_MILLISECONDS) clock.after(milliseconds, () => void release());
  let least = Number.POSITIVE_INFINITY;
  const check = async () => {
    const now = resident();
    const hasGrown = now - least >= GROWTH_OCTETS;
    if (hasGrown) await release();
    least = hasGrown ? resident() : Math.min(least, now);
    clock.after(CHECKED_EACH_MILLISECONDS, () => void check());
  };
  clock.after(CHECKED_EACH_MILLISECONDS, () => void check());
}
