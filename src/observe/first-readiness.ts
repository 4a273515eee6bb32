/**
 * Holds the reply to a probe that comes while the server starts. A kubelet whose first readiness probe fails asks again only after the
 * period of the probe, 10 s by default; one that waits for the first state is answered once, right.
 */
import type { Clock } from '../base/clock.ts';

/** Milliseconds that a probe waits: less than the timeout of the kubelet, 1 s by default. */
const MAX_HOLD = 800;
/** Milliseconds between two looks. */
const INTERVAL = 10;

export class FirstReadiness {
  readonly #isReady: () => boolean;
  readonly #clock: Clock;
  #wasReady = false;

  constructor(isReady: () => boolean, clock: Clock) {
    this.#isReady = isReady;
    this.#clock = clock;
  }

  /** Resolves when the server is ready for the first time, at the latest after the time that a probe waits; later at once. */
  async wait(): Promise<void> {
    const end = this.#clock.monotonic() + MAX_HOLD;
    while (!this.#isSettled() && this.#clock.monotonic() < end)
      await new Promise<void>((resolve) => this.#clock.after(INTERVAL, resolve));
  }

  #isSettled(): boolean {
    this.#wasReady ||= this.#isReady();
    return this.#wasReady;
  }
}
