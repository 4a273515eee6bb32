/**
 * Time as a parameter, so that tests control it.
 */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds since the Unix epoch, for display and storage. */
  now(): number;
  /** Milliseconds that never go back, for durations; the same in all threads of a process. */
  monotonic(): number;
  /** Calls `run` once after `milliseconds`; never keeps the process alive by itself. */
  after(milliseconds: number, run: () => void): Timer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic() {
    // `performance.now` starts from zero in each thread.
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1000 + nanoseconds / 1e6;
  },
  after(milliseconds, run) {
    const timer = setTimeout(run, milliseconds);
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

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
