/**
 * The networks of this machine's interfaces, with changes followed.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { Interfaces } from '@portolan/kernel/listen/local-addresses.ts';
import { listNetworks } from './plan/clients-plan.ts';

/** The interval between checks of the interfaces. */
const FOLLOW_MILLISECONDS = 5_000;

export class FollowedNetworks {
  readonly #interfaces: () => Interfaces;
  readonly #clock: Clock;
  readonly #onChange: () => void;
  #networks: ReturnType<typeof listNetworks>;
  #timer: Timer;

  /** @param onChange called when the networks have changed */
  constructor(interfaces: () => Interfaces, clock: Clock, onChange: () => void) {
    this.#interfaces = interfaces;
    this.#clock = clock;
    this.#onChange = onChange;
    this.#networks = listNetworks(interfaces());
    this.#timer = this.#lookLater();
  }

  stop(): void {
    this.#timer.cancel();
  }

  #lookLater(): Timer {
    return this.#clock.after(FOLLOW_MILLISECONDS, () => {
      this.#timer = this.#lookLater();
      const networks = listNetworks(this.#interfaces());
      if (isDeepStrictEqual(networks, this.#networks)) return;
      this.#networks = networks;
      this.#onChange();
    });
  }
}
