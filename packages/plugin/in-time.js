import { setTimeout as wait } from 'node:timers/promises';

/** @returns undefined if the time is over first */
export async function inTime(promise, milliseconds) {
  const end = new AbortController();
  const timer = wait(milliseconds, undefined, { signal: end.signal }).catch(() => undefined);
  try {
    return await Promise.race([promise, timer]);
  } finally {
    end.abort();
  }
}
