/**
 * UDP of all listener groups of a process, by one reader thread as long as it is enough: each thread costs some 10 MB. Its sockets come
 * and go with the groups. A change starts another thread, to which the first one leaves the sockets that stay; they are never closed,
 * and what is queued in them waits for it. Readers that were started beside the first one end with a change: the main thread answers
 * what is queued in their sockets, and the next ones start as they are needed.
 */
import { closeDescriptor } from '../socket/descriptor.ts';
import { openUdpSocket, probeUdpPort } from '../socket/udp-socket.ts';
import { WAIT_MILLISECONDS } from './reader-loop.ts';
import type { ListenAddress } from './types.ts';
import { type BatchListener, prepareByBatches, type UdpOptions } from './udp.ts';

export interface GroupReaderOptions
  extends Omit<UdpOptions, 'addresses' | 'readers' | 'firstReader' | 'packetPath' | 'events'> {
  /** How long answers that are under way may take when sockets are closed, in milliseconds. */
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
  /** Changes come one after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: GroupReaderOptions) {
    this.#options = options;
  }

  /**
   * Serves these addresses and no others. Ends when no query is under way that came to one of the others.
   *
   * @param addresses all with the ports that they are served at
   * @throws PortInUseError, SocketError, AddressError, or what kept the thread from starting; then nothing has changed
   */
  serve(addresses: readonly ListenAddress[]): Promise<void> {
    const change = this.#last.then(() => this.#serve(addresses));
    // A change that fails is no concern of the next.
    this.#last = change.catch(() => {});
    return change;
  }

  async #serve(addresses: readonly ListenAddress[]): Promise<void> {
    const before = this.#served;
    const keeps = addresses.map((address) => before.find((one) => isSame(one.address, address)));
    if (addresses.length === before.length && keeps.every((one) => one !== undefined)) return;
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

  /** Leaves all ports without losing what was received. */
  stop(): Promise<void> {
    return this.serve([]);
  }

  /** Sockets of one address may stand beside those of all addresses, and those may be our own. */
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
    next?.formerEnded();
  }

  /** All of them have the same numbers of readers: only those of one receive at a time. */
  #prepare(served: readonly Served[]): Promise<BatchListener> {
    const addresses = served.map(({ address }) => address);
    return prepareByBatches(
      { ...this.#options, addresses, firstReader: 0 },
      served.map(({ socket }) => socket),
    );
  }
}

function isSame(one: ListenAddress, other: ListenAddress): boolean {
  return one.address === other.address && one.port === other.port && one.group === other.group;
}
