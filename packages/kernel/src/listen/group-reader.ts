/**
 * Serves UDP for all listener groups of a process with one reader thread, as long as that is enough: each thread costs
 * some 10 MB. Its sockets follow the groups. A change starts another thread, to which the first one leaves the sockets
 * that stay. Those are never closed, and packets queued in them wait for the new thread. A change ends all additional
 * readers; the main thread answers the packets queued in their sockets, and new readers start when needed.
 */
import type { SocketAddress } from '../socket/addresses.ts';
import { closeDescriptor } from '../socket/descriptor.ts';
import { openUdpSocket, probeUdpPort } from '../socket/udp-socket.ts';
import { sumUdpCounts } from './listener-counts.ts';
import { addReaderCounts } from './reader-counters.ts';
import { WAIT_MILLISECONDS } from './reader-loop.ts';
import type { ListenAddress } from './types.ts';
import { type BatchListener, prepareByBatches, type UdpOptions } from './udp.ts';
import type { UdpCounts } from './udp-listener.ts';

export interface GroupReaderOptions extends Omit<UdpOptions, 'addresses' | 'readers' | 'firstReader'> {
  /** How long pending answers may take when sockets are closed, in milliseconds. */
  readonly grace: number;
}

/** An address, and the socket that is bound to it. */
interface Served {
  readonly address: ListenAddress;
  readonly socket: ReturnType<typeof openUdpSocket>;
}

export class GroupReader {
  readonly #options: GroupReaderOptions;
  #served: readonly Served[] = [];
  #listener: BatchListener | undefined;
  /** Counts of listeners that have ended. */
  #ended: UdpCounts | undefined;
  /** Changes come one after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: GroupReaderOptions) {
    this.#options = options;
  }

  /**
   * Serves exactly these addresses. Settles once all queries to former addresses are answered.
   *
   * @param addresses all with their ports set
   * @throws PortInUseError, SocketError, AddressError, or the reason why the thread could not start; then nothing has changed
   */
  serve(addresses: readonly ListenAddress[]): Promise<void> {
    const change = this.#last.then(() => this.#serve(addresses));
    // The next change runs even if this one fails.
    this.#last = change.catch(() => {});
    return change;
  }

  async #serve(addresses: readonly ListenAddress[]): Promise<void> {
    const before = this.#served;
    const keeps = addresses.map((address) => {
      const kept = before.find((one) => isSame(one.address, address));
      return kept && { ...kept, address };
    });
    if (addresses.length === before.length && addresses.every((address) => hasAlike(before, address))) return;
    const opened: Served[] = [];
    try {
      for (const address of addresses.filter((_, place) => keeps[place] === undefined)) this.#probe(address);
      for (const [place, address] of addresses.entries())
        if (keeps[place] === undefined)
          opened.push({ address, socket: openUdpSocket(address, WAIT_MILLISECONDS) });
      await this.#change([...keeps.filter((one) => one !== undefined), ...opened]);
    } catch (error) {
      for (const { socket } of opened) closeDescriptor(socket.fd);
      throw error;
    }
  }

  /** The addresses served. */
  get endpoints(): readonly SocketAddress[] {
    return this.#served.map(({ socket }) => socket.endpoint);
  }

  /** Undefined before the first change. */
  count(): UdpCounts | undefined {
    const now = this.#listener?.count();
    if (this.#ended === undefined || now === undefined) return now ?? this.#ended;
    return addCounts(now, this.#ended);
  }

  /** Leaves all ports without losing received packets. */
  stop(): Promise<void> {
    return this.serve([]);
  }

  /** Sockets of single addresses can share a port with wildcard sockets, which may be our own. */
  #probe(address: ListenAddress): void {
    const { takeover } = this.#options;
    if (!takeover && !this.#served.some(({ socket }) => socket.endpoint.port === address.port))
      probeUdpPort(address);
  }

  async #change(served: readonly Served[]): Promise<void> {
    const former = this.#listener;
    const next = served.length === 0 ? undefined : await this.#prepare(served);
    if (next !== undefined) await former?.release(new Set(served.map(({ socket }) => socket)));
    next?.begin();
    this.#served = served;
    this.#listener = next;
    await former?.stop(this.#options.grace);
    if (former !== undefined)
      this.#ended = this.#ended === undefined ? former.count() : addCounts(former.count(), this.#ended);
    next?.formerEnded();
  }

  /** All have the same reader numbers: only one listener receives at a time. */
  #prepare(served: readonly Served[]): Promise<BatchListener> {
    const addresses = served.map(({ address }) => address);
    return prepareByBatches(
      { ...this.#options, addresses, firstReader: 0 },
      served.map(({ socket }) => socket),
    );
  }
}

/** @returns the counts of both, and the state of the first */
function addCounts(now: UdpCounts, ended: UdpCounts): UdpCounts {
  const { length } = now.readers.length > ended.readers.length ? now.readers : ended.readers;
  const readers = Array.from({ length }, (_, place) =>
    addReaderCounts([now.readers[place], ended.readers[place]].filter((each) => each !== undefined)),
  );
  const sum = sumUdpCounts([now, ended]);
  return { ...sum, readers, down: now.down, slow: { ...sum.slow, unanswered: now.slow.unanswered } };
}

/** Whether an address is served in the same way. */
function hasAlike(served: readonly Served[], address: ListenAddress): boolean {
  return served.some(
    (one) =>
      isSame(one.address, address) &&
      one.address.clientRules === address.clientRules &&
      one.address.proxies === address.proxies &&
      one.address.drops === address.drops,
  );
}

function isSame(one: ListenAddress, other: ListenAddress): boolean {
  return one.address === other.address && one.port === other.port && one.group === other.group;
}
