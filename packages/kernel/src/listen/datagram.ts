/**
 * UDP by `node:dgram` on the main thread, for systems without batches: the same answers, one packet at a time.
 *
 * Node does not report the destination of a packet. So a socket on a wildcard address answers from the address that routing picks.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type Clock, within } from '../base/clock.ts';
import { RateLimitedWarnings } from '../base/rate-limited-warning.ts';
import { formatSocketAddress } from '../base/socket-address.ts';
import type { Client } from '../chain/query.ts';
import { isWildcard, type SocketAddress, toAddressFamily } from '../socket/addresses.ts';
import { AF_INET6 } from '../socket/linux.ts';
import { nodeBindError } from '../socket/socket-error.ts';
import { fairScheduler } from './fair-scheduler.ts';
import { DROPPED, ListenerDrops } from './listener-drops.ts';
import { MessageAnswers } from './message-answers.ts';
import { type ProxiedDatagram, ProxiedDatagrams } from './proxy-protocol/proxied-datagrams.ts';
import type { ProxyProtocolPlan } from './proxy-protocol/proxy-policy.ts';
import { DEFAULT_QUERY_TIMEOUTS } from './query-timeouts.ts';
import { FAILING_CALLS } from './reader-counters.ts';
import type { InstantAnswers, ListenAddress } from './types.ts';
import { MAX_UNANSWERED, type UdpBasics, type UdpCounts, type UdpListener } from './udp-listener.ts';

export interface DatagramOptions extends UdpBasics {
  readonly answers: InstantAnswers;
  /** Maximum of unanswered slow questions; 10,000 by default. */
  readonly maxUnanswered?: number;
  /** Whose datagrams may begin with a header that tells the client; undefined: none do. Read for each, since it may change. */
  readonly proxies?: ProxyProtocolPlan | undefined;
  /** Where to count what is dropped; undefined: nowhere. */
  readonly drops?: SharedArrayBuffer | undefined;
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
  readonly #drops: ListenerDrops | undefined;
  readonly #sockets: Socket[] = [];
  #proxies: { readonly plan: ProxyProtocolPlan; readonly datagrams: ProxiedDatagrams } | undefined;
  #badHeaders = 0;
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
    this.#drops = options.drops && new ListenerDrops(options.drops);
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
    socket.on('message', (message, sender) => this.#receive(socket, message, sender, { group, ...local }));
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

  #receive(
    socket: Socket,
    message: Uint8Array,
    { address, port }: SocketAddress,
    about: Omit<Client, keyof SocketAddress | 'transport'>,
  ): void {
    this.#packets++;
    this.#failing = 0;
    const sender = { address, port };
    const plain: ProxiedDatagram = { kind: 'query', query: message, client: sender };
    const taken = this.#findProxied()?.take(message, sender) ?? plain;
    if (taken.kind === 'query')
      this.#answer(socket, taken.query, { ...taken.client, transport: 'udp', ...about }, sender);
    if (taken.kind !== 'rejected') return;
    this.#badHeaders++;
    this.#warnings.warn('PROXY header malformed or not allowed: packet dropped', { sender: address });
  }

  #findProxied(): ProxiedDatagrams | undefined {
    const { proxies: plan, clock } = this.#options;
    if (plan !== this.#proxies?.plan)
      this.#proxies = plan && { plan, datagrams: new ProxiedDatagrams(plan, clock) };
    return this.#proxies?.datagrams;
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
      badHeaders: this.#badHeaders,
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

  /** @param sender gets the answer */
  #answer(socket: Socket, message: Uint8Array, client: Client, sender: SocketAddress): void {
    const answer = this.#answers.answer(message, client);
    if (answer.kind === 'response') void this.#send(socket, answer.response, sender);
    else if (answer.kind === 'later') void this.#sendLater(socket, answer.response, sender);
  }

  async #askSlowly(query: Uint8Array, client: Client): Promise<Uint8Array | undefined> {
    const isFull = this.#unanswered >= (this.#options.maxUnanswered ?? MAX_UNANSWERED);
    if (isFull && !fairScheduler.dropOldest(client.address)) {
      this.#dropped++;
      this.#drops?.add(DROPPED.QUERIES, 1);
      return undefined;
    }
    this.#asked++;
    const arrived = this.#clock.monotonic();
    const { queue, discard } = this.#options.timeouts ?? DEFAULT_QUERY_TIMEOUTS;
    const turn = await fairScheduler.waitForTurn(client.address, queue);
    if (turn === 'late') this.#expired++;
    if (turn === 'full') this.#dropped++;
    if (turn !== 'serve') {
      this.#drops?.add(DROPPED.QUERIES, 1);
      return undefined;
    }
    const response = await this.#options.handleQuery(query, client);
    if (response === undefined || this.#clock.monotonic() < arrived + discard) return response;
    this.#late++;
    return undefined;
  }

  async #sendLater(
    socket: Socket,
    coming: Promise<Uint8Array | undefined>,
    sender: SocketAddress,
  ): Promise<void> {
    this.#unanswered++;
    try {
      const response = await coming;
      if (response !== undefined) await this.#send(socket, response, sender);
    } catch (error) {
      this.#answers.faults.note(error);
    } finally {
      this.#unanswered--;
      if (this.#unanswered === 0) this.#onSettled();
    }
  }

  /** Node throws at once for port 0; other errors come in the callback. */
  async #send(socket: Socket, response: Uint8Array, sender: SocketAddress): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) =>
        socket.send(response, sender.port, sender.address, (error) => (error ? reject(error) : resolve())),
      );
    } catch {
      this.#refused++;
      this.#drops?.add(DROPPED.RESPONSES, 1);
    }
  }
}
