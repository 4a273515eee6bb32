/**
 * UDP by `node:dgram` on the main thread, for systems without batches: the same answers, one packet at a time.
 *
 * Node does not report the destination of a packet. So a socket on a wildcard address answers from the address that routing picks.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type Clock, within } from '../base/clock.ts';
import { RateLimitedWarnings } from '../base/rate-limited-warning.ts';
import type { Client } from '../chain/query.ts';
import { formatSocketAddress, isWildcard, type SocketAddress, toAddressFamily } from '../socket/addresses.ts';
import { AF_INET6 } from '../socket/linux.ts';
import { nodeBindError } from '../socket/socket-error.ts';
import { fairScheduler } from './fair-scheduler.ts';
import { MessageAnswers } from './message-answers.ts';
import { DEFAULT_QUERY_TIMEOUTS } from './query-timeouts.ts';
import { FAILING_CALLS } from './reader-counters.ts';
import type { InstantAnswers, ListenAddress } from './types.ts';
import { MAX_UNANSWERED, type UdpBasics, type UdpCounts, type UdpListener } from './udp-listener.ts';

export interface DatagramOptions extends UdpBasics {
  readonly answers: InstantAnswers;
  /** Maximum of unanswered slow questions; 10,000 by default. */
  readonly maxUnanswered?: number;
}

/**
 * Serves UDP on the main thread.
 *
 * @throws PortInUseError, or an error of `node:dgram`
 */
export async function listenByDatagrams(options: DatagramOptions): Promise<UdpListener> {
  const listener = new DatagramListener(options);
  try {
    await listener.open(options.addresses);
    return listener;
  } catch (error) {
    await listener.stop(0);
    throw error;
  }
}

class DatagramListener implements UdpListener {
  readonly endpoints: SocketAddress[] = [];
  readonly #options: DatagramOptions;
  readonly #answers: MessageAnswers;
  readonly #clock: Clock;
  readonly #warnings: RateLimitedWarnings;
  readonly #sockets: Socket[] = [];
  #packets = 0;
  #receiveErrors = 0;
  /** Since the last packet. */
  #failing = 0;
  #refused = 0;
  #asked = 0;
  #unanswered = 0;
  #dropped = 0;
  #expired = 0;
  #late = 0;
  #onSettled: () => void = () => {};
  #stopped: Promise<void> | undefined;

  constructor(options: DatagramOptions) {
    this.#options = options;
    this.#answers = new MessageAnswers(
      options.answers,
      (query, client) => this.#askSlowly(query, client),
      options,
    );
    this.#clock = options.clock;
    this.#warnings = new RateLimitedWarnings(options.log, options.clock);
  }

  async open(addresses: readonly ListenAddress[]): Promise<void> {
    const { log } = this.#options;
    for (const address of addresses) this.endpoints.push(await this.#bind(address));
    log.info('serving UDP on the main thread', {
      addresses: this.endpoints.map(formatSocketAddress).join(', '),
    });
    if (addresses.some(({ address }) => isWildcard(address))) {
      log.warn('answers may leave from another address than was asked: bind each address by itself');
    }
  }

  async #bind(endpoint: ListenAddress): Promise<SocketAddress> {
    const { address, port, group = 0 } = endpoint;
    const socket =
      toAddressFamily(address) === AF_INET6
        ? createSocket({ type: 'udp6', ipv6Only: true })
        : createSocket({ type: 'udp4' });
    this.#sockets.push(socket);
    const local = { localAddress: isWildcard(address) ? undefined : address, localPort: port };
    socket.on('message', (message, { address: from, port: fromPort }) =>
      this.#answer(socket, message, { address: from, port: fromPort, transport: 'udp', group, ...local }),
    );
    try {
      socket.bind({ address, port, exclusive: true });
      await once(socket, 'listening');
    } catch (error) {
      throw nodeBindError(error, endpoint, 'udp');
    }
    // A packet that cannot be received is lost, as on the network.
    socket.on('error', ({ message }) => this.#noteReceiveError(message));
    return { address, port: socket.address().port };
  }

  #noteReceiveError(reason: string): void {
    this.#receiveErrors++;
    this.#failing++;
    if (this.#failing >= FAILING_CALLS) this.#warnings.warn('UDP packets cannot be received', { reason });
  }

  count(): UdpCounts {
    const { denied, limited } = this.#answers;
    const faults = this.#answers.faults.count;
    const reader = {
      batches: this.#packets,
      packets: this.#packets,
      cut: 0,
      faults,
      refused: this.#refused,
      blocked: 0,
      receiveErrors: this.#receiveErrors,
      denied,
      limited,
      shed: 0,
      floods: 0,
      failing: this.#failing,
    };
    const slow = {
      asked: this.#asked,
      unanswered: this.#unanswered,
      faults: 0,
      unsent: 0,
      limited: 0,
      dropped: this.#dropped,
      expired: this.#expired,
      late: this.#late,
    };
    return { readers: [reader], down: 0, restarts: 0, kernelDrops: 0, slow };
  }

  stop(graceMilliseconds: number): Promise<void> {
    this.#stopped ??= this.#leave(graceMilliseconds);
    return this.#stopped;
  }

  async #leave(graceMilliseconds: number): Promise<void> {
    const settled = new Promise<void>((resolve) => {
      this.#onSettled = resolve;
    });
    if (this.#unanswered > 0) await within(this.#clock, graceMilliseconds, settled);
    await Promise.all(
      this.#sockets.map((socket) => new Promise<void>((resolve) => socket.close(() => resolve()))),
    );
  }

  #answer(socket: Socket, message: Uint8Array, client: Client): void {
    this.#packets++;
    this.#failing = 0;
    const answer = this.#answers.answer(message, client);
    if (answer.kind === 'response') void this.#send(socket, answer.response, client);
    else if (answer.kind === 'later') void this.#sendLater(socket, answer.response, client);
  }

  async #askSlowly(query: Uint8Array, client: Client): Promise<Uint8Array | undefined> {
    const isFull = this.#unanswered >= (this.#options.maxUnanswered ?? MAX_UNANSWERED);
    if (isFull && !fairScheduler.dropOldest(client.address)) {
      this.#dropped++;
      return undefined;
    }
    this.#asked++;
    const arrived = this.#clock.monotonic();
    const { queue, discard } = this.#options.timeouts ?? DEFAULT_QUERY_TIMEOUTS;
    const turn = await fairScheduler.waitForTurn(client.address, queue);
    if (turn === 'late') this.#expired++;
    if (turn === 'full') this.#dropped++;
    if (turn !== 'serve') return undefined;
    const response = await this.#options.handleQuery(query, client);
    if (response === undefined || this.#clock.monotonic() < arrived + discard) return response;
    this.#late++;
    return undefined;
  }

  async #sendLater(
    socket: Socket,
    coming: Promise<Uint8Array | undefined>,
    client: SocketAddress,
  ): Promise<void> {
    this.#unanswered++;
    try {
      const response = await coming;
      if (response !== undefined) await this.#send(socket, response, client);
    } catch (error) {
      this.#answers.faults.note(error);
    } finally {
      this.#unanswered--;
      if (this.#unanswered === 0) this.#onSettled();
    }
  }

  /** Node throws at once for port 0; other errors come in the callback. */
  async #send(socket: Socket, response: Uint8Array, client: SocketAddress): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) =>
        socket.send(response, client.port, client.address, (error) => (error ? reject(error) : resolve())),
      );
    } catch {
      this.#refused++;
    }
  }
}
