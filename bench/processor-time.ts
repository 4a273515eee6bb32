/**
 * Processor time of a process, per thread, as counted by the kernel's scheduler.
 *
 * `schedstat` counts nanoseconds. Without it, `stat` has user and system time in hundredths of a second, the same sum at a
 * coarser resolution.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** Microseconds of processor time by thread. */
export type ThreadTimes = ReadonlyMap<number, number>;

const MICROSECONDS_PER_TICK = 10_000;

/** @throws Error where there is no such process */
export function readThreadTimes(pid: number): ThreadTimes {
  const folder = `/proc/${pid}/task`;
  const times = new Map<number, number>();
  for (const thread of readdirSync(folder)) {
    const time = readTime(`${folder}/${thread}`);
    if (time !== undefined) times.set(Number(thread), time);
  }
  return times;
}

/** Milliseconds of processor time of a process, threads that have ended included, in steps of ten. */
export function readProcessTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * MICROSECONDS_PER_TICK) / 1000;
}

/** Nothing for a thread that has just ended. */
function readTime(folder: string): number | undefined {
  const precise = readIfThere(`${folder}/schedstat`);
  if (precise !== undefined) return Number(precise.split(' ')[0]) / 1000;
  // The command's name, in parentheses, may contain anything.
  const fields = readIfThere(`${folder}/stat`)?.split(') ').at(-1)?.split(' ');
  return fields && (Number(fields[11]) + Number(fields[12])) * MICROSECONDS_PER_TICK;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** What the threads have used between two readings, in microseconds. */
export function timesBetween(before: ThreadTimes, after: ThreadTimes): ThreadTimes {
  return new Map([...after].map(([thread, time]) => [thread, time - (before.get(thread) ?? 0)]));
}

/** The whole process. */
export function sumTimes(times: ThreadTimes): number {
  return [...times.values()].reduce((sum, time) => sum + time, 0);
}
