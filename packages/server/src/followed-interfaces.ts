/**
 * The listen addresses of `portolan dnsmasq`: those that its options select now, and those that come up later.
 *
 * A socket stays open when its address disappears, and works again when the address returns.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { addressesToBind, type Interfaces, isPresent } from '@portolan/kernel/listen/local-addresses.ts';
import { chooseAddresses } from './chosen-addresses.ts';
import type { InterfaceListenPlan } from './plan/server-plan.ts';

export interface FollowedInterfacesOptions {
  readonly plan: InterfaceListenPlan;
  readonly interfaces: () => Interfaces;
  /** Opens the sockets of these addresses, or of none. */
  readonly open: (addresses: readonly string[]) => Promise<void>;
  /** Opens those of an address that has come up since. */
  readonly openLater: (address: string) => Promise<void>;
  /** The addresses that are served. */
  readonly addresses: () => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

/** The options bind to an interface that does not exist. */
export class UnknownInterfaceError extends Error {
  override readonly name = 'UnknownInterfaceError';
  readonly interface: string;

  constructor(name: string) {
    super(`unknown interface: ${name}. Name one that is there, or use --bind-dynamic to wait for it.`);
    this.interface = name;
  }
}

/** The interval between checks of the interfaces. */
const FOLLOW_MILLISECONDS = 2_000;

export class FollowedInterfaces {
  readonly #options: FollowedInterfacesOptions;
  readonly #served = new Set<string>();
  /** The last bind error of each address, so that it is logged once. */
  readonly #failed = new Map<string, string>();
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: FollowedInterfacesOptions) {
    this.#options = options;
  }

  /**
   * Opens either all sockets or none.
   *
   * @throws UnknownInterfaceError, PortInUseError, SocketError, AddressError
   */
  async start(): Promise<void> {
    const { plan, interfaces, open, log } = this.#options;
    if (plan.port === 0) return;
    const machine = interfaces();
    const { addresses, missing } = chooseAddresses(plan, machine);
    this.#reportMissing(missing);
    const usable = this.#usable(addressesToBind(addresses, machine), machine);
    if (usable.length > 0) await open(usable);
    for (const address of usable) this.#served.add(address);
    if (addresses !== 'all' && plan.bind !== 'interfaces') this.#lookLater();
    log.debug('listening', { addresses: this.#options.addresses().join(', ') });
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #reportMissing(missing: readonly string[]): void {
    const { plan, log } = this.#options;
    for (const name of missing) {
      if (plan.bind === 'interfaces') throw new UnknownInterfaceError(name);
      log.warn(`warning: interface ${name} does not currently exist`);
    }
  }

  /** The addresses that can be bound now; without following interfaces, all must be bindable. */
  #usable(addresses: readonly string[], machine: Interfaces): readonly string[] {
    const { plan, log } = this.#options;
    if (plan.bind === 'interfaces') return addresses;
    const usable = addresses.filter((address) => isPresent(address, machine));
    for (const address of addresses)
      if (!usable.includes(address)) log.warn('no interface has this address yet', { address });
    return usable;
  }

  #lookLater(): void {
    if (this.#isStopped) return;
    this.#timer = this.#options.clock.after(FOLLOW_MILLISECONDS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { plan, interfaces } = this.#options;
    const machine = interfaces();
    const { addresses } = chooseAddresses(plan, machine);
    for (const address of addresses === 'all' ? [] : addresses)
      if (!this.#served.has(address) && isPresent(address, machine)) await this.#open(address);
    this.#lookLater();
  }

  async #open(address: string): Promise<void> {
    const { openLater, log } = this.#options;
    try {
      await openLater(address);
      this.#served.add(address);
      this.#failed.delete(address);
      log.info('listening on an address that has come up', { address });
    } catch (error) {
      const reason = describeError(error);
      if (this.#failed.get(address) === reason) return;
      this.#failed.set(address, reason);
      log.error('cannot listen on an address that has come up', { address, reason });
    }
  }
}
