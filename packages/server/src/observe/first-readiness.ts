/**
 * Holds the reply to a probe that comes while the server starts. A kubelet whose first readiness probe fails asks again only after the
 * period of the probe, 10 s by default; one that waits for the first state is answered once, right.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';

/** Milliseconds that a probe waits: less than the timeout of the kubelet, 1 s by default. */
const MAX_HOLD = 800;
/** Milliseconds between two looks. */
const INTERVAL = 10;

export class FirstReadiness {
  readonly #isKnown: () => boolean;
  readonly #clock: Clock;
  #wasKnown = false;

  /** @param isKnown whether the first state is known: the server is ready, or ends */
  constructor(isKnown: () => boolean, clock: Clock) {
    this.#isKnown = isKnown;
    this.#clock = clock;
  }

  /** Resolves when the first state is known, at the latest after the time that a probe waits; later at once. */
  async wait(): Promise<void> {
    const end = this.#clock.monotonic() + MAX_HOLD;
    while (!this.#isSettled() && this.#clock.monotonic() < end)
      await new Promise<void>((resolve) => this.#clock.after(INTERVAL, resolve));
  }

  #isSettled(): boolean {
    this.#wasKnown ||= this.#isKnown();
    return this.#wasKnown;
  }
}
