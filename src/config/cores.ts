/**
 * How many cores this process may use: what the machine gives it, and what a control group's quota leaves of that.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** @returns at least a fraction of one; a pod limited to `1500m` has 1.5. */
export function countCores(): number {
  return Math.min(availableParallelism(), quota('/sys/fs/cgroup'));
}

/** More must be asked for: they share one main thread. */
const MAX_READERS_UNASKED = 16;

/** How many reader threads there may be on so many cores: one each, started as they are needed. */
export function readersFor(cores: number): number {
  return Math.min(MAX_READERS_UNASKED, Math.max(1, Math.floor(cores)));
}

/** How many reader threads there are where all are started at once: one per core after the first. Each takes some 10 MB. */
export function readersAtOnceFor(cores: number): number {
  return Math.min(4, Math.max(1, Math.floor(cores) - 1));
}

/** @returns cores, or infinity where there is no quota or no control group. */
export function quota(controlGroup: string): number {
  const [now, period] = readWords(`${controlGroup}/cpu.max`);
  if (now !== undefined) return coresOf(now, period);
  const [older] = readWords(`${controlGroup}/cpu/cpu.cfs_quota_us`);
  const [olderPeriod] = readWords(`${controlGroup}/cpu/cpu.cfs_period_us`);
  return coresOf(older, olderPeriod);
}

/** `max` and `-1` are how the two versions of control groups say that there is no quota. */
function coresOf(quotaText: string | undefined, periodText: string | undefined): number {
  const cores = Number(quotaText) / Number(periodText);
  return cores > 0 && Number.isFinite(cores) ? cores : Number.POSITIVE_INFINITY;
}

function readWords(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').trim().split(/\s+/);
  } catch {
    return [];
  }
}
