/**
 * Decides when the main thread collects replies that readers have already sent to their clients. It polls every 20 ms
 * while replies come, which costs less than a wake-up for each; readers answer equal questions meanwhile. Otherwise it
 * sleeps until the next reply.
 */
import type { Clock, Timer } from '../base/clock.ts';
import type { ReaderForwarding } from './types.ts';

const MILLISECONDS = 20;
/** Empty polls before it sleeps. */
const QUIET_TURNS = 3;

export class FillPoll {
  readonly #forwarding: ReaderForwarding;
  readonly #clock: Clock;
  #timer: Timer | undefined;
  #quiet = 0;
  #isStopped = false;

  constructor(forwarding: ReaderForwarding, clock: Clock) {
    this.#forwarding = forwarding;
    this.#clock = clock;
  }

  /** Call it when there may be replies. */
  wake(): void {
    if (this.#timer === undefined && !this.#isStopped) this.#look();
  }

  #look(): void {
    const taken = this.#forwarding.drain();
    this.#quiet = taken === 'none' ? this.#quiet + 1 : 0;
    if (this.#quiet >= QUIET_TURNS && this.#forwarding.sleep()) {
      this.#timer = undefined;
      this.#quiet = 0;
      return;
    }
    this.#timer = this.#clock.after(taken === 'more' ? 0 : MILLISECONDS, () => {
      this.#timer = undefined;
      this.#look();
    });
  }

  /** Takes all remaining replies, and stops polling. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    while (this.#forwarding.drain() === 'more');
  }
}
