/**
 * The number of cores that this process may use: those of the machine, limited by the quota of its control group.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** @returns at least a fraction of one; 1.5 for a pod limited to `1500m` */
export function countCores(): number {
  return Math.min(availableParallelism(), quota('/sys/fs/cgroup'));
}

/** More reader threads only on request: they share one main thread. */
const MAX_READERS_UNASKED = 16;

/** The maximum of reader threads if they start on demand: one per core. */
export function readersFor(cores: number): number {
  return Math.min(MAX_READERS_UNASKED, Math.max(1, Math.floor(cores)));
}

/** The number of reader threads if all start at once: one per core after the first. Each takes about 10 MB. */
export function readersAtOnceFor(cores: number): number {
  return Math.min(4, Math.max(1, Math.floor(cores) - 1));
}

/** @returns cores, or infinity without a quota or a control group */
export function quota(controlGroup: string): number {
  const [now, period] = readWords(`${controlGroup}/cpu.max`);
  if (now !== undefined) return computeCores(now, period);
  const [older] = readWords(`${controlGroup}/cpu/cpu.cfs_quota_us`);
  const [olderPeriod] = readWords(`${controlGroup}/cpu/cpu.cfs_period_us`);
  return computeCores(older, olderPeriod);
}

/** Versions 1 and 2 of control groups write `-1` and `max` for no quota. */
function computeCores(quotaText: string | undefined, periodText: string | undefined): number {
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
