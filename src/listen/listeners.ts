/**
 * The only place that opens sockets for clients: UDP, by reader threads where batches are available, and TCP, on the
 * same addresses.
 */
import { randomInt } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { formatSocketAddress } from '../socket/addresses.ts';
import { batchesAvailable } from '../socket/libc.ts';
import { type ClientRules, shareClientRules } from './client-rules.ts';
import { listenByDatagrams } from './datagram.ts';
import type { QueryEventRings } from './query-events/event-rings.ts';
import { END_REASONS, type EndReason } from './stream-connection.ts';
import { listenOnTcp, type TcpCounts, type TcpLimits, type TcpListener } from './tcp.ts';
import type { HandleQuery, InstantAnswers, ListenAddress, PacketPath, ReaderForwarding } from './types.ts';
import { listenByBatches } from './udp.ts';
import type { UdpBasics, UdpCounts, UdpListener } from './udp-listener.ts';
import type { StartThread } from './udp-reader.ts';

export interface ListenersOptions {
  /** Maximum of threads that answer UDP, from 1. */
  readonly udpReaders: number;
  /** Whether to start all of them at once, instead of one. Default: no. */
  readonly startsAllReaders?: boolean;
  /** Milliseconds for which a reader that has received a single packet waits for more. Default: 0. */
  readonly udpCoalesce?: number;
  /** Join ports that another process serves, instead of refusing to start. */
  readonly takeover: boolean;
  /** The size that our OPT records offer, and the limit of UDP responses, in octets. */
  readonly udpSize: number;
  readonly tcpLimits?: Partial<TcpLimits>;
  /** What clients may do. Default: everything. */
  readonly clients?: ClientRules;
  /** The table that reader threads look up. Undefined: every query goes to `handleQuery`. */
  readonly table: SharedArrayBuffer | undefined;
  /** The main thread's own look-ups. */
  readonly answers: InstantAnswers;
  readonly handleQuery: HandleQuery;
  /** Asked before `handleQuery`, for packets that came by batches. */
  readonly packetPath?: PacketPath | undefined;
  /** Lets reader threads forward questions by themselves; asked first. */
  readonly forwarding?: ReaderForwarding | undefined;
  /** Called when a reader's thread has died: make its epoch even. */
  readonly onReaderDead: (reader: number) => void;
  /** Where to write the events of answered queries; undefined: nowhere. */
  readonly events?: QueryEventRings | undefined;
  readonly startReader: StartThread;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long pending answers may take when the server stops. */
const GRACE_MILLISECONDS = 2_000;

type Shared = Omit<UdpBasics, 'addresses'>;

export class Listeners {
  readonly #options: ListenersOptions;
  readonly #shared: Shared;
  readonly #udp: UdpListener[] = [];
  readonly #tcp: TcpListener[] = [];

  constructor(options: ListenersOptions) {
    const { handleQuery, udpSize, clients, events, clock, log } = options;
    const clientRules = clients && shareClientRules(clients, randomInt(2 ** 31));
    this.#options = options;
    this.#shared = { handleQuery, udpSize, clientRules, events, clock, log };
  }

  /** The addresses it serves, by UDP and TCP alike: `127.0.0.1:53`. */
  get addresses(): readonly string[] {
    return this.#udp.flatMap(({ endpoints }) => endpoints.map(formatSocketAddress));
  }

  /**
   * Opens the sockets of all addresses, or of none if one fails.
   *
   * @param addresses at least one
   * @throws PortInUseError, SocketError, AddressError
   */
  async open(addresses: readonly ListenAddress[]): Promise<void> {
    const { takeover, log } = this.#options;
    const batches = batchesAvailable();
    if (batches !== true) {
      log.warn('recvmmsg not available: serving UDP one packet at a time', batches);
      if (takeover) log.warn('--takeover has no effect: ports cannot be shared here', batches);
    }
    await this.#openBoth(addresses, () =>
      batches === true ? this.#listenByBatches(addresses) : this.#listenByDatagrams(addresses),
    );
  }

  /**
   * Opens the sockets of an address that appeared later. The main thread serves its UDP, since readers get their
   * sockets only at the start.
   *
   * @throws PortInUseError, SocketError, AddressError
   */
  async openLater(address: ListenAddress): Promise<void> {
    await this.#openBoth([address], () => this.#listenByDatagrams([address]));
  }

  async #openBoth(addresses: readonly ListenAddress[], listen: () => Promise<UdpListener>): Promise<void> {
    const { takeover, answers, tcpLimits: limits = {} } = this.#options;
    const native = batchesAvailable() === true;
    const tcp = await listenOnTcp({ ...this.#shared, addresses, takeover, native, answers, limits });
    try {
      this.#udp.push(await listen());
      this.#tcp.push(tcp);
    } catch (error) {
      await tcp.stop(0);
      throw error;
    }
  }

  #listenByBatches(addresses: readonly ListenAddress[]): Promise<UdpListener> {
    const { takeover, table, packetPath, forwarding, udpReaders: maxReaders, onReaderDead } = this.#options;
    const { startReader: startThread, udpCoalesce: coalesce = 0, startsAllReaders = false } = this.#options;
    const readers = startsAllReaders ? maxReaders : 1;
    const threads = { readers, maxReaders, firstReader: 0, startThread, onReaderDead, coalesce };
    return listenByBatches({
      ...this.#shared,
      ...threads,
      addresses,
      takeover,
      table,
      packetPath,
      forwarding,
    });
  }

  #listenByDatagrams(addresses: readonly ListenAddress[]): Promise<UdpListener> {
    const { answers } = this.#options;
    return listenByDatagrams({ ...this.#shared, addresses, answers });
  }

  udp(): UdpCounts {
    const counts = this.#udp.map((listener) => listener.count());
    const sum = (read: (count: UdpCounts) => number): number =>
      counts.reduce((all, one) => all + read(one), 0);
    return {
      readers: counts.flatMap(({ readers }) => readers),
      down: sum(({ down }) => down),
      restarts: sum(({ restarts }) => restarts),
      kernelDrops: sum(({ kernelDrops }) => kernelDrops),
      slow: {
        asked: sum(({ slow }) => slow.asked),
        unanswered: sum(({ slow }) => slow.unanswered),
        faults: sum(({ slow }) => slow.faults),
        unsent: sum(({ slow }) => slow.unsent),
        limited: sum(({ slow }) => slow.limited),
        dropped: sum(({ slow }) => slow.dropped),
      },
    };
  }

  tcp(): TcpCounts {
    const counts = this.#tcp.map((listener) => listener.count());
    const sum = (read: (count: TcpCounts) => number): number =>
      counts.reduce((all, one) => all + read(one), 0);
    const ended = END_REASONS.map((reason) => [reason, sum((count) => count.ended[reason])]);
    return {
      open: sum(({ open }) => open),
      accepted: sum(({ accepted }) => accepted),
      rejected: sum(({ rejected }) => rejected),
      heldOctets: sum(({ heldOctets }) => heldOctets),
      queries: sum(({ queries }) => queries),
      // The list has every reason.
      ended: Object.fromEntries(ended) as Record<EndReason, number>,
      faults: sum(({ faults }) => faults),
      unaccepted: sum(({ unaccepted }) => unaccepted),
    };
  }

  /** Leaves the ports without losing received queries, or queries that other sockets of the port could answer. */
  async stop(): Promise<void> {
    const all = [...this.#udp, ...this.#tcp];
    await Promise.all(all.map((listener) => listener.stop(GRACE_MILLISECONDS)));
  }
}
