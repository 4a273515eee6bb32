/**
 * The sockets of `portolan dnsmasq`: on the addresses that its options choose, and on those that come up later.
 *
 * The first addresses are served by the reader threads. One that comes later is served by the main thread, since readers
 * know their sockets from the start; a socket whose address went away stays, and works again when the address is back.
 */
import type { DnsmasqListenPlan } from '../../config/dnsmasq/plan.ts';
import type { Clock, Timer } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';
import { listenByDatagrams } from '../../listen/datagram.ts';
import { listenOnTcp, type TcpListener } from '../../listen/tcp.ts';
import type { AnswerInOctets, AnswerSlowly, InstantAnswers } from '../../listen/types.ts';
import { listenByBatches } from '../../listen/udp.ts';
import type { UdpListener } from '../../listen/udp-listener.ts';
import { formatSocketAddress, type SocketAddress } from '../../socket/addresses.ts';
import { batchesAvailable } from '../../socket/libc.ts';
import { PortInUseError } from '../../socket/socket-error.ts';
import { chooseAddresses, type Interfaces, type ListenChoice } from './interface-choice.ts';

export interface DnsmasqListenersOptions {
  readonly plan: DnsmasqListenPlan;
  readonly interfaces: () => Interfaces;
  /** What reader threads look up in. */
  readonly table: SharedArrayBuffer;
  /** The main thread's own look-ups. */
  readonly answers: InstantAnswers;
  readonly answerSlowly: AnswerSlowly;
  /** Asked before `answerSlowly`, for what came by batches. */
  readonly answerInOctets?: AnswerInOctets | undefined;
  readonly udpReaders: number;
  readonly readerEntry: URL;
  readonly onReaderDead: (reader: number) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** An interface that was named is not there, and dnsmasq was told to bind to it. */
export class UnknownInterfaceError extends Error {
  override readonly name = 'UnknownInterfaceError';
  readonly interface: string;

  constructor(name: string) {
    super(`unknown interface: ${name}. Name one that is there, or use --bind-dynamic to wait for it.`);
    this.interface = name;
  }
}

/** How often interfaces are looked at. */
const FOLLOW_MILLISECONDS = 2_000;
const GRACE_MILLISECONDS = 2_000;
const WILDCARDS = ['0.0.0.0', '::'];

export class DnsmasqListeners {
  readonly #options: DnsmasqListenersOptions;
  readonly #udp: UdpListener[] = [];
  readonly #tcp: TcpListener[] = [];
  readonly #served = new Set<string>();
  /** Why an address cannot be had, so that it is said once. */
  readonly #failed = new Map<string, string>();
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: DnsmasqListenersOptions) {
    this.#options = options;
  }

  /** Where it answers, by UDP and TCP alike. */
  get addresses(): readonly string[] {
    return this.#udp.flatMap(({ endpoints }) => endpoints.map(formatSocketAddress));
  }

  /** TCP connections now. */
  get connections(): number {
    return this.#tcp.reduce((sum, listener) => sum + listener.count().open, 0);
  }

  /**
   * Opens all sockets, or none.
   *
   * @throws UnknownInterfaceError, PortInUseError, SocketError, AddressError
   */
  async open(): Promise<void> {
    const { plan, interfaces, log } = this.#options;
    if (plan.port === 0) return;
    const choice = chooseAddresses(plan, interfaces());
    this.#reportMissing(choice);
    const addresses = this.#usable(choice.kind === 'all' ? this.#wildcards() : choice.addresses);
    try {
      await this.#openFirst(addresses);
    } catch (error) {
      await this.stop();
      throw error;
    }
    for (const address of addresses) this.#served.add(address);
    if (choice.kind === 'some' && plan.bind !== 'interfaces') this.#followLater();
    log.debug('listening', { addresses: this.addresses.join(', ') });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    const listeners = [...this.#udp, ...this.#tcp];
    await Promise.all(listeners.map((listener) => listener.stop(GRACE_MILLISECONDS)));
  }

  #reportMissing(choice: ListenChoice): void {
    const { plan, log } = this.#options;
    if (choice.kind === 'all') return;
    for (const name of choice.missing) {
      if (plan.bind === 'interfaces') throw new UnknownInterfaceError(name);
      log.warn(`warning: interface ${name} does not currently exist`);
    }
  }

  /** IPv6 may be switched off, and then nothing can be bound to its wildcard. */
  #wildcards(): readonly string[] {
    const all = Object.values(this.#options.interfaces()).flatMap((entries) => entries ?? []);
    return all.some(({ family }) => family === 'IPv6') ? WILDCARDS : WILDCARDS.slice(0, 1);
  }

  /** Those that can be bound now; where interfaces are not followed, one that cannot be is an error. */
  #usable(addresses: readonly string[]): readonly string[] {
    if (this.#options.plan.bind === 'interfaces') return addresses;
    return addresses.filter((address) => {
      const isPresent = this.#isPresent(address);
      if (!isPresent)
        this.#options.log.warn('no interface has this address now, it is waited for', { address });
      return isPresent;
    });
  }

  #isPresent(address: string): boolean {
    if (WILDCARDS.includes(address) || address.startsWith('127.')) return true;
    const [plain] = address.split('%');
    const entries = Object.values(this.#options.interfaces()).flatMap((found) => found ?? []);
    return entries.some((entry) => entry.address === plain);
  }

  async #openFirst(addresses: readonly string[]): Promise<void> {
    if (addresses.length === 0) return;
    const { plan, answers, answerSlowly, answerInOctets, clock, log } = this.#options;
    const { table, udpReaders, readerEntry, onReaderDead } = this.#options;
    const sockets = this.#socketsOf(addresses);
    this.#tcp.push(await this.#openTcp(sockets));
    const shared = { addresses: sockets, answerSlowly, udpLimit: plan.ednsPacketMax, clock, log };
    const batches = batchesAvailable();
    if (batches !== true) log.warn('UDP packets are served one by one, which is slower', batches);
    const readers = { readers: udpReaders, firstReader: 0, threadEntry: readerEntry, onReaderDead };
    const listening =
      batches === true
        ? listenByBatches({ ...shared, ...readers, answerInOctets, table, takeover: false })
        : listenByDatagrams({ ...shared, answers });
    this.#udp.push(await listening);
  }

  #openTcp(addresses: readonly SocketAddress[]): Promise<TcpListener> {
    const { plan, answers, answerSlowly, clock, log } = this.#options;
    const { maxTcpConnections: connections } = plan;
    const limits = { connections, connectionsPerClient: connections };
    const native = batchesAvailable() === true;
    return listenOnTcp({ addresses, takeover: false, native, answers, answerSlowly, limits, clock, log });
  }

  #followLater(): void {
    if (this.#isStopped) return;
    this.#timer = this.#options.clock.after(FOLLOW_MILLISECONDS, () => void this.#follow());
  }

  async #follow(): Promise<void> {
    const { plan, interfaces } = this.#options;
    const choice = chooseAddresses(plan, interfaces());
    for (const address of choice.kind === 'some' ? choice.addresses : [])
      if (!this.#served.has(address) && this.#isPresent(address)) await this.#openLater(address);
    this.#followLater();
  }

  async #openLater(address: string): Promise<void> {
    const { plan, answers, answerSlowly, clock, log } = this.#options;
    const addresses = this.#socketsOf([address]);
    const udpLimit = plan.ednsPacketMax;
    try {
      const udp = await listenByDatagrams({ addresses, answerSlowly, answers, udpLimit, clock, log });
      this.#udp.push(udp);
      this.#tcp.push(await this.#openTcp(addresses));
      this.#served.add(address);
      this.#failed.delete(address);
      log.info('listening on an address that has come up', { address });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      // Half of it is there, perhaps, and stays: the port of the other half is held by somebody.
      if (error instanceof PortInUseError) this.#served.add(address);
      if (this.#failed.get(address) === reason) return;
      this.#failed.set(address, reason);
      log.error('cannot listen on an address that has come up', { address, reason });
    }
  }

  #socketsOf(addresses: readonly string[]): readonly SocketAddress[] {
    return addresses.map((address) => ({ address, port: this.#options.plan.port }));
  }
}
