/**
 * When the main thread looks for replies that readers have told their clients: every 20 ms as long as there are some, which
 * costs less than to be woken for each. Readers answer equal questions meanwhile. When there are none it sleeps until one comes.
 */
import type { Clock, Timer } from '../base/clock.ts';
import type { ReaderForwarding } from './types.ts';

const MILLISECONDS = 20;
/** Looks in vain before it sleeps. */
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

  /** There may be replies. */
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

  /** Takes what there is, and looks no more. */
  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    while (this.#forwarding.drain() === 'more');
  }
}
