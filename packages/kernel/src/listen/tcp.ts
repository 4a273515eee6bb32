/**
 * TCP, and TLS, HTTPS and gRPC on it: accepts connections within limits, and stops without losing answers.
 */
import { once } from 'node:events';
import { createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, type Timer, within } from '../base/clock.ts';
import { admitClient } from '../base/descriptors.ts';
import type { Log } from '../base/log.ts';
import { formatSocketAddress } from '../base/socket-address.ts';
import type { Client, HandleQuery } from '../chain/query.ts';
import { decodeSocketAddress, type SocketAddress, toAddressFamily } from '../socket/addresses.ts';
import { AF_INET6 } from '../socket/linux.ts';
import { nodeBindError } from '../socket/socket-error.ts';
import { countUnaccepted, openTcpListener, probeTcpPort } from '../socket/tcp-listener.ts';
import type { SharedClientRules } from './client-rules.ts';
import { ConnectionTable, type ConnectionTableLimits } from './connection-table.ts';
import { GrpcConnection } from './grpc-connection.ts';
import { Http1Parser } from './https/http-exchanges.ts';
import { type HttpService, HttpsConnection } from './https-connection.ts';
import { MessageAnswers } from './message-answers.ts';
import { OpeningConnection } from './opening-connection.ts';
import { ProxyHeaderReader } from './proxy-protocol/proxy-header.ts';
import { ProxyPolicies, type ProxyPolicy, type ProxyProtocolPlan } from './proxy-protocol/proxy-policy.ts';
import { readStreamHeader, type StreamHeader } from './proxy-protocol/stream-header.ts';
import type { QueryEventRings } from './query-events/event-rings.ts';
import type { QueryTimeouts } from './query-timeouts.ts';
import type { TlsIdentity } from './secure/tls-identity.ts';
import { TlsServer } from './secure/tls-server.ts';
import {
  type ConnectionEvents,
  type ConnectionLimits,
  END_REASONS,
  type EndReason,
  type ServedConnection,
} from './served-connection.ts';
import { StreamConnection } from './stream-connection.ts';
import type { InstantAnswers, ListenAddress } from './types.ts';

export interface TcpLimits extends ConnectionLimits, ConnectionTableLimits {}

export const TCP_LIMITS: TcpLimits = {
  connections: 2000,
  connectionsPerClient: 200,
  idleMilliseconds: 10_000,
  queries: 10_000,
  ageMilliseconds: 120_000,
  owed: 100,
  endingMilliseconds: 2000,
  octetsPerConnection: 2 ** 20,
  octetsPerClient: 4 * 2 ** 20,
  octets: 16 * 2 ** 20,
};

/** How often to look for idle connections while places are few. */
const SWEEP_MILLISECONDS = 250;

/** How a listener encrypts. */
export interface Encryption {
  readonly identity: TlsIdentity;
  /** Called with each line of the keys of sessions. Default: not called. */
  readonly onKeys?: ((line: Buffer) => void) | undefined;
}

/** What connections carry: `dns`: messages, each with its length before it. */
export type StreamProtocol =
  | { readonly kind: 'dns' | 'grpc' }
  /** `onResponse` is called with the status of each response. */
  | { readonly kind: 'https'; readonly onResponse: (status: number) => void };

/** What listeners agree on with clients (ALPN). */
const PROTOCOL_NAMES: { readonly [Kind in StreamProtocol['kind']]: readonly string[] } = {
  dns: ['dot'],
  https: ['h2', 'http/1.1'],
  grpc: ['h2'],
};

export interface TcpOptions {
  readonly addresses: readonly ListenAddress[];
  /** Join ports that another process may serve, instead of checking that they are free. */
  readonly takeover: boolean;
  /** Whether listeners can be opened through the C library (`batchesAvailable`); else ports cannot be shared. */
  readonly native: boolean;
  readonly answers: InstantAnswers;
  readonly handleQuery: HandleQuery;
  /** The UDP size in our OPT records, in octets. */
  readonly udpSize: number;
  /** Where to write the events of answered queries; undefined: nowhere. */
  readonly events?: QueryEventRings | undefined;
  /** What clients may do; undefined: everything. */
  readonly clientRules?: SharedClientRules | undefined;
  /** Whose headers tell the client; undefined: no header does. Read for each connection, since it may change. */
  readonly proxies?: ProxyProtocolPlan | undefined;
  /** Default: `DEFAULT_QUERY_TIMEOUTS`. */
  readonly timeouts?: QueryTimeouts | undefined;
  readonly limits?: Partial<TcpLimits>;
  /** Undefined: connections are not encrypted. */
  readonly encryption?: Encryption | undefined;
  /** Default: `dns`. */
  readonly protocol?: StreamProtocol;
  readonly clock: Clock;
  readonly log: Log;
}

export interface TcpCounts {
  readonly open: number;
  readonly accepted: number;
  /** Connections closed at once because all places were taken by busy ones. */
  readonly rejected: number;
  /** Octets held for connections: unanswered queries, and unread answers. */
  readonly heldOctets: number;
  readonly queries: number;
  /** Connections that ended, by reason. */
  readonly ended: Readonly<Record<EndReason, number>>;
  /** Queries answered with SERVFAIL because answering threw: a defect of this program. */
  readonly faults: number;
  /** Connections in the backlog, not accepted when the listeners were closed. */
  readonly unaccepted: number;
  /** Queries answered with SERVFAIL at their turn, since their clients did not wait any more. */
  readonly expired: number;
}

/** How many turns a stopping listener accepts its queue: one connection a turn, and the backlog limits the queue. */
const LAST_ACCEPTING_TURNS = 600;

export class TcpListener {
  #limits: TcpLimits;
  readonly #answers: MessageAnswers;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #servers: { readonly server: Server; readonly fd: number | undefined }[] = [];
  readonly #connections: ConnectionTable<ServedConnection>;
  readonly #protocol: StreamProtocol['kind'];
  /** Of `https`. */
  readonly #http: HttpService | undefined;
  readonly #options: Pick<TcpOptions, 'proxies'>;
  #policies: { readonly plan: ProxyProtocolPlan; readonly policies: ProxyPolicies } | undefined;
  #tls: TlsServer | undefined;
  readonly #ended = new Map<EndReason, number>(END_REASONS.map((reason) => [reason, 0]));
  #sweep: Timer | undefined;
  #endpoints: readonly SocketAddress[] = [];
  #accepted = 0;
  #rejected = 0;
  #queriesOfGone = 0;
  #unaccepted = 0;
  #stopped: Promise<void> | undefined;
  #onEmpty: () => void = () => {};

  constructor(options: TcpOptions) {
    this.#options = options;
    this.#limits = { ...TCP_LIMITS, ...options.limits };
    this.#connections = new ConnectionTable(this.#limits);
    this.#answers = new MessageAnswers(options.answers, options.handleQuery, options);
    this.#clock = options.clock;
    this.#log = options.log;
    const { protocol = { kind: 'dns' } } = options;
    this.#protocol = protocol.kind;
    if (protocol.kind === 'https') this.#http = { http1: new Http1Parser(), onResponse: protocol.onResponse };
    this.encrypt(options.encryption);
  }

  /**
   * Encrypts connections that are accepted from now on by other rules, or not at all. To change only the certificate, use `renew`.
   *
   * @throws Error as `checkIdentity`
   */
  encrypt(encryption: Encryption | undefined): void {
    const clock = this.#clock;
    const protocols = PROTOCOL_NAMES[this.#protocol];
    const tls = encryption && new TlsServer({ ...encryption, protocols, clock });
    this.#tls?.stop();
    this.#tls = tls;
  }

  /** Uses another certificate from now on. Sessions can still be resumed. @throws Error as `checkIdentity` */
  renew(identity: TlsIdentity): void {
    this.#tls?.renew(identity);
  }

  /** Has other limits from now on. Open connections keep those of times and queries. */
  limit(limits: Partial<TcpLimits>): void {
    this.#limits = { ...TCP_LIMITS, ...limits };
    this.#connections.limit(this.#limits);
  }

  /** The addresses served, with the ports that the kernel chose. */
  get endpoints(): readonly SocketAddress[] {
    return this.#endpoints;
  }

  count(): TcpCounts {
    let queries = this.#queriesOfGone;
    for (const connection of this.#connections) queries += connection.queries;
    return {
      open: this.#connections.size,
      accepted: this.#accepted,
      rejected: this.#rejected,
      queries,
      heldOctets: this.#connections.octets,
      // Every reason is in the map.
      ended: Object.fromEntries(this.#ended) as Record<EndReason, number>,
      faults: this.#answers.faults.count,
      unaccepted: this.#unaccepted,
      expired: this.#answers.expired,
    };
  }

  /** See `listenOnTcp`. */
  async open({ addresses, takeover, native }: TcpOptions): Promise<void> {
    const endpoints: SocketAddress[] = [];
    this.#endpoints = endpoints;
    for (const address of addresses) {
      if (native && !takeover && address.port !== 0) probeTcpPort(address);
      endpoints.push(native ? await this.#openNative(address) : await this.#openPlain(address));
    }
    this.#log.info('serving TCP', { addresses: endpoints.map(formatSocketAddress).join(', ') });
  }

  async #openNative(address: ListenAddress): Promise<SocketAddress> {
    const { fd, endpoint } = openTcpListener(address);
    await this.#listen({ fd }, { ...endpoint, group: address.group ?? 0 }, fd);
    return endpoint;
  }

  async #openPlain(endpoint: ListenAddress): Promise<SocketAddress> {
    const { address, port } = endpoint;
    const ipv6Only = toAddressFamily(address) === AF_INET6;
    const server = await this.#listen({ host: address, port, ipv6Only }, endpoint);
    const bound = server.address();
    return { address, port: bound !== null && typeof bound === 'object' ? bound.port : port };
  }

  async #listen(
    where: ListenOptions | { readonly fd: number },
    endpoint: ListenAddress,
    fd?: number,
  ): Promise<Server> {
    // A client may close its side after its last query and still expect its answers.
    const server = createServer({ allowHalfOpen: true }, (socket) =>
      this.#accept(socket, endpoint.group ?? 0),
    );
    this.#servers.push({ server, fd });
    server.listen(where);
    try {
      await once(server, 'listening');
    } catch (error) {
      throw nodeBindError(error, endpoint, 'tcp');
    }
    server.on('error', (error) =>
      this.#log.warn('cannot accept a TCP connection', { reason: error.message }),
    );
    return server;
  }

  #accept(socket: Socket, group: number): void {
    const { remoteAddress: address, remotePort: port, localAddress, localPort } = socket;
    const isShort = admitClient(socket);
    if (address === undefined || port === undefined || !this.#connections.makePlace(address, isShort)) {
      this.#rejected++;
      socket.destroy();
      return;
    }
    this.#accepted++;
    const client: Client = { address, port, transport: 'tcp', localAddress, localPort, group };
    const policy = this.#findPolicy(client);
    const holder = { address };
    const events: ConnectionEvents = {
      onEnd: (gone, reason) => this.#forget(gone, holder.address, reason),
      onHeld: (connection, more) => this.#connections.account(holder.address, connection, more),
    };
    const connection =
      policy === 'skip'
        ? this.#serve(socket, client, events)
        : this.#serveProxied(socket, client, policy, events, holder);
    this.#connections.add(address, connection);
    if (this.#stopped !== undefined) connection.leave();
    this.#sweepWhileCrowded();
  }

  /** The policy for headers of a sender; `skip`: its connections begin with their protocol. */
  #findPolicy(sender: Client): ProxyPolicy {
    const { proxies } = this.#options;
    if (proxies !== this.#policies?.plan)
      this.#policies = proxies && { plan: proxies, policies: new ProxyPolicies(proxies) };
    return this.#policies?.policies.findFor(sender) ?? 'skip';
  }

  /** @param holder whose place the connection takes: that of the client, once it is known */
  #serveProxied(
    socket: Socket,
    sender: Client,
    policy: ProxyPolicy,
    events: ConnectionEvents,
    holder: { address: string },
  ): ServedConnection {
    const opening = new OpeningConnection(socket, 'header', this.#limits, this.#clock, events);
    const header = new ProxyHeaderReader();
    readStreamHeader(socket, header, (result) => {
      if (isRefused(result, policy)) {
        opening.cut(result === 'closed' ? 'client' : 'header');
        return;
      }
      const isUsed = result === 'read' && policy === 'use';
      const client = isUsed ? readClient(header, sender) : sender;
      if (this.#move(opening, holder, client.address))
        opening.opened((inside) => this.#serve(socket, client, inside));
      else opening.cut('evicted');
    });
    return opening;
  }

  /** Accounts for a connection with its client in place of its proxy. @returns false: the client has too many */
  #move(connection: ServedConnection, holder: { address: string }, address: string): boolean {
    if (holder.address === address) return true;
    this.#connections.remove(holder.address, connection);
    const hasPlace = this.#connections.makePlace(address);
    if (hasPlace) holder.address = address;
    this.#connections.add(holder.address, connection);
    return hasPlace;
  }

  #serve(accepted: Socket, client: Client, accepting: ConnectionEvents): ServedConnection {
    const common = { client, answers: this.#answers, limits: this.#limits, clock: this.#clock };
    const open = (socket: Socket, events: ConnectionEvents): ServedConnection => {
      const options = { ...common, socket, events };
      if (this.#http !== undefined) return new HttpsConnection(this.#http, options);
      return this.#protocol === 'grpc' ? new GrpcConnection(options) : new StreamConnection(options);
    };
    if (this.#tls === undefined) return open(accepted, accepting);
    const opening = new OpeningConnection(accepted, 'handshake', this.#limits, this.#clock, accepting);
    this.#tls.secure(accepted, (secured) => {
      if (!opening.opened((inside) => open(secured, inside))) secured.destroy();
    });
    return opening;
  }

  /** With few places left, idle connections end sooner than their own timers. */
  #sweepWhileCrowded(): void {
    if (this.#sweep !== undefined || !this.#connections.isCrowded) return;
    this.#sweep = this.#clock.after(SWEEP_MILLISECONDS, () => {
      this.#sweep = undefined;
      this.#connections.endIdle();
      this.#sweepWhileCrowded();
    });
  }

  #forget(connection: ServedConnection, address: string, reason: EndReason): void {
    this.#connections.remove(address, connection);
    this.#queriesOfGone += connection.queries;
    this.#ended.set(reason, (this.#ended.get(reason) ?? 0) + 1);
    if (this.#connections.size === 0) this.#onEmpty();
  }

  /**
   * Stops accepting, answers pending queries, and ends all connections; cuts those that do not end in time.
   */
  stop(graceMilliseconds: number): Promise<void> {
    this.#stopped ??= this.#leave(graceMilliseconds);
    return this.#stopped;
  }

  async #leave(graceMilliseconds: number): Promise<void> {
    for (let turn = 0; turn < LAST_ACCEPTING_TURNS && this.#countWaiting() > 0; turn++) await nextTurn();
    this.#unaccepted = this.#countWaiting();
    // The kernel resets them; they cannot be handed over.
    if (this.#unaccepted > 0) this.#log.warn('connections left unaccepted', { count: this.#unaccepted });
    const closed = this.#servers.map(
      ({ server }) => new Promise<void>((resolve) => server.close(() => resolve())),
    );
    for (const connection of this.#connections) connection.leave();
    await this.#empty(graceMilliseconds);
    this.#sweep?.cancel();
    for (const connection of this.#connections) connection.destroy();
    this.#tls?.stop();
    await Promise.all(closed);
  }

  /** Connections that wait to be accepted. */
  #countWaiting(): number {
    return this.#servers.reduce((sum, { fd }) => sum + (fd === undefined ? 0 : countUnaccepted(fd)), 0);
  }

  async #empty(graceMilliseconds: number): Promise<void> {
    if (this.#connections.size === 0) return;
    const empty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    await within(this.#clock, graceMilliseconds, empty);
  }
}

/** Whether a connection is not served. */
function isRefused(header: StreamHeader, policy: ProxyPolicy): boolean {
  return header === 'closed' || header === 'malformed' || (header === 'read' && policy === 'reject');
}

/** The client that a header tells; the sender, if the header tells of none. */
function readClient({ source, destination }: ProxyHeaderReader, sender: Client): Client {
  if (source.length === 0) return sender;
  const asked = decodeSocketAddress(destination.octets);
  return {
    ...sender,
    ...decodeSocketAddress(source.octets),
    localAddress: asked.address,
    localPort: asked.port,
  };
}

/**
 * Serves TCP.
 *
 * @throws PortInUseError, SocketError, AddressError; or an error of `net.Server` where ports cannot be shared
 */
export async function listenOnTcp(options: TcpOptions): Promise<TcpListener> {
  const listener = new TcpListener(options);
  try {
    await listener.open(options);
    return listener;
  } catch (error) {
    await listener.stop(0);
    throw error;
  }
}
