/**
 * The end of a server: how long it answers on after the stop signal. Clients were told that it is not ready, but some may still come.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { formatDuration } from '@portolan/kernel/base/duration.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { ServerPlan } from './plan/server-plan.ts';

/** Milliseconds between looks whether queries still arrive. */
const INTERVAL = 250;
/** Milliseconds without a query after which no client is expected to come: longer than kube-proxy takes to forget an ended pod. */
const SILENCE = 3_000;

export interface ServingOn {
  /** The queries so far. */
  readonly countQueries: () => number;
  readonly wait: (milliseconds: number) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Resolves after the lameduck time, or later when no query has arrived for a while, at the latest when the drain ends. */
export async function serveOn(
  { lameduck, drain = 0 }: Pick<ServerPlan, 'lameduck' | 'drain'>,
  serving: ServingOn,
): Promise<void> {
  const { countQueries, wait, clock, log } = serving;
  if (drain <= lameduck) return lameduck > 0 ? await wait(lameduck) : undefined;
  const began = clock.monotonic();
  const silence = new QuerySilence(countQueries, clock);
  let isTold = false;
  for (;;) {
    const isSilent = silence.isLong();
    const passed = clock.monotonic() - began;
    if (passed >= drain || (isSilent && passed >= lameduck)) return;
    if (passed >= lameduck && !isTold) {
      isTold = true;
      log.info('queries still arrive: answering on', { atMost: formatDuration(drain - lameduck) });
    }
    await wait(INTERVAL);
  }
}

class QuerySilence {
  readonly #countQueries: () => number;
  readonly #clock: Clock;
  #count: number;
  #changed: number;

  constructor(countQueries: () => number, clock: Clock) {
    this.#countQueries = countQueries;
    this.#clock = clock;
    this.#count = countQueries();
    this.#changed = clock.monotonic();
  }

  /** Whether no query has arrived for long enough, judged by the calls of this method. */
  isLong(): boolean {
    const now = this.#clock.monotonic();
    const count = this.#countQueries();
    if (count !== this.#count) this.#changed = now;
    this.#count = count;
    return now - this.#changed >= SILENCE;
  }
}
