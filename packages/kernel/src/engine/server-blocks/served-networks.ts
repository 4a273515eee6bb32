/**
 * Which clients get an answer: all of them, or only those in the networks of this machine, as dnsmasq does with `--local-service`.
 *
 * It outlives plans, because only the first stranger is logged.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { type AddressMatch, matchRanges } from '@portolan/dns/address-range.ts';
import type { Log } from '../../base/log.ts';
import type { ClientsPlan } from '../../plan/server-blocks-plan.ts';

const EVERY_CLIENT: AddressMatch = () => true;

export class ServedNetworks {
  readonly #log: Log;
  #isServed = EVERY_CLIENT;
  #hasWarned = false;
  #onWarned: () => void = () => {};

  constructor(log: Log) {
    this.#log = log;
  }

  /** What readers do with strangers. Until one of them is logged, queries of strangers go to the main thread. */
  get strangers(): 'asked' | 'dropped' {
    return this.#hasWarned ? 'dropped' : 'asked';
  }

  /**
   * From now on, serves these clients.
   *
   * @param clients undefined: all
   * @param onWarned called when `strangers` changes
   */
  serve(clients: ClientsPlan | undefined, onWarned: () => void): void {
    this.#isServed = clients?.servesOnlyNetworks === true ? matchRanges(clients.networks) : EVERY_CLIENT;
    this.#onWarned = onWarned;
  }

  /** Whether a client gets an answer. @param address may end in a zone */
  admits(address: string): boolean {
    if (this.#isServed === EVERY_CLIENT) return true;
    const [plain = ''] = address.split('%');
    const octets = parseAddress(plain);
    if (octets !== undefined && this.#isServed(octets)) return true;
    if (!this.#hasWarned) this.#warn(address);
    return false;
  }

  #warn(address: string): void {
    this.#hasWarned = true;
    this.#log.warn(`ignoring query from non-local network ${address} (logged only once)`);
    this.#onWarned();
  }
}
