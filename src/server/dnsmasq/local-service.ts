/**
 * `--local-service`: clients of other networks get no answer.
 */
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Client } from '../../chain/query.ts';
import type { Interfaces } from '../../listen/local-addresses.ts';
import type { Watcher } from '../watched-answers.ts';
import { LocalNetworks } from './local-networks.ts';

export class LocalService implements Watcher {
  readonly #networks: LocalNetworks;
  readonly #log: Log;
  #hasWarned = false;

  constructor(interfaces: () => Interfaces, clock: Clock, log: Log) {
    this.#networks = new LocalNetworks(interfaces, clock);
    this.#log = log;
  }

  admits({ address }: Client): boolean {
    if (this.#networks.includes(address)) return true;
    if (!this.#hasWarned)
      this.#log.warn(`ignoring query from non-local network ${address} (logged only once)`);
    this.#hasWarned = true;
    return false;
  }
}
