/**
 * Queries over TCP (RFC 7766) or TLS (RFC 7858), on connections that are kept open and shared.
 *
 * A server may close an idle connection just when a query is sent. A query that loses its connection this way is
 * repeated once on a new one (RFC 7766 section 6.2.4). A connection with an overdue query that has been silent since
 * gets no more queries: it may be half open, which TCP would report only after minutes.
 */
import { connect, isIP, type Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import type { SocketAddress } from '../../socket/addresses.ts';
import type { OutstandingQuery } from './outstanding.ts';
import type { QueryMessage } from './query-message.ts';
import { UpstreamConnection } from './stream-connection.ts';
import { continueBy } from './taken-over-exchange.ts';
import type {
  DirectServer,
  DroppedPackets,
  Exchange,
  ExchangeEvents,
  StreamTerms,
  Transport,
} from './transport.ts';

/** Defaults: idle for 10 s, 30 s with TLS, of any age, one connection at first and 4 at most. */
export interface StreamTransportOptions extends Partial<StreamTerms> {
  readonly peer: SocketAddress;
  readonly sourceAddress: string | undefined;
  readonly tls: TlsPeer | undefined;
  readonly clock: Clock;
}

export interface TlsTrust {
  /** Trusted certificates in PEM form; they replace those of Node. Undefined: those of Node. */
  readonly authorities: readonly string[] | undefined;
  /** Our own certificate and key, in PEM form. Default: none. */
  readonly own?: { readonly certificate: string; readonly key: string } | undefined;
}

export interface TlsPeer extends TlsTrust {
  /** The name or address that the certificate must have; undefined: the peer's address. */
  readonly serverName: string | undefined;
}

/** Loaded when first used: most servers are queried without TLS, which takes a megabyte. */
const loadTls = () => process.getBuiltinModule('node:tls');

interface StreamQuery extends OutstandingQuery {
  readonly askedAt: number;
  isRepeated: boolean;
  connection: UpstreamConnection<StreamQuery> | undefined;
}

const MAX_CONNECTIONS = 4;
/** Queries on one connection before another one is opened. */
const FULL_LOAD = 128;
const IDLE_MILLISECONDS = { tcp: 10_000, tls: 30_000 } as const;

export class StreamTransport implements Transport {
  readonly isReliable = true;
  readonly dropped: DroppedPackets = { strange: 0, otherQuestion: 0, otherCase: 0 };
  /** Without TLS, other threads may open connections of their own. */
  readonly direct: DirectServer | undefined;
  readonly #options: StreamTransportOptions;
  #connections: UpstreamConnection<StreamQuery>[] = [];
  readonly #leaving = new Set<UpstreamConnection<StreamQuery>>();
  readonly #openedAt = new WeakMap<UpstreamConnection<StreamQuery>, number>();
  /** The last TLS session, so that a new connection needs one round trip and no certificate. */
  #session: Buffer | undefined;

  constructor(options: StreamTransportOptions) {
    this.#options = options;
    const { tls, sourceAddress, peer, idle = IDLE_MILLISECONDS.tcp, maxAge = 0 } = options;
    const { minConnections = 1, maxConnections = MAX_CONNECTIONS } = options;
    if (tls === undefined && sourceAddress === undefined)
      this.direct = {
        ...{ peer, stream: { idle, maxAge, minConnections, maxConnections } },
        takeOver: continueBy(this),
      };
  }

  ask(query: QueryMessage, events: ExchangeEvents): Exchange {
    const askedAt = this.#options.clock.monotonic();
    const entry: StreamQuery = { query, events, askedAt, isRepeated: false, connection: undefined, id: 0 };
    this.#send(entry);
    return { overdue: () => this.#overdue(entry), cancel: () => this.#cancel(entry) };
  }

  close(): void {
    for (const connection of [...this.#connections, ...this.#leaving]) connection.destroy();
    this.#connections = [];
    this.#leaving.clear();
  }

  #send(entry: StreamQuery): void {
    const connection = this.#pickConnection();
    if (connection.ask(entry)) entry.connection = connection;
    else entry.events.failed('no free message id');
  }

  #overdue({ connection, askedAt }: StreamQuery): void {
    if (connection !== undefined && connection.lastHeard < askedAt) this.#abandon(connection);
  }

  #cancel(entry: StreamQuery): void {
    const { connection } = entry;
    entry.isRepeated = true;
    entry.connection = undefined;
    connection?.forget(entry);
    if (connection !== undefined && connection.load === 0) this.#leaving.delete(connection);
  }

  #abandon(connection: UpstreamConnection<StreamQuery>): void {
    this.#connections = this.#connections.filter((other) => other !== connection);
    if (connection.load > 0) this.#leaving.add(connection);
    connection.leave();
  }

  #pickConnection(): UpstreamConnection<StreamQuery> {
    this.#abandonOld();
    const { minConnections = 1, maxConnections: max = MAX_CONNECTIONS } = this.#options;
    const maxConnections = Math.min(max, MAX_CONNECTIONS);
    const usable = this.#connections.filter((connection) => connection.takesQueries);
    this.#connections = usable;
    let best = usable[0];
    for (const connection of usable) if (connection.load < (best?.load ?? 0)) best = connection;
    const fullLoad = usable.length < minConnections ? 1 : FULL_LOAD;
    if (best !== undefined && (best.load < fullLoad || usable.length >= maxConnections)) return best;
    const opened = this.#open();
    usable.push(opened);
    return opened;
  }

  #abandonOld(): void {
    const { maxAge = 0, clock } = this.#options;
    if (maxAge === 0) return;
    for (const connection of this.#connections)
      if (clock.monotonic() - (this.#openedAt.get(connection) ?? 0) > maxAge) this.#abandon(connection);
  }

  #open(): UpstreamConnection<StreamQuery> {
    const { tls, clock, idle = IDLE_MILLISECONDS[tls === undefined ? 'tcp' : 'tls'] } = this.#options;
    const socket = tls === undefined ? connect(this.#place()) : this.#openTls(tls);
    const connection: UpstreamConnection<StreamQuery> = new UpstreamConnection(
      socket,
      tls === undefined ? 'connect' : 'secureConnect',
      this.dropped,
      clock,
      idle,
      { closed: (code, entries, wasReady) => this.#closed(connection, code, entries, wasReady) },
    );
    this.#openedAt.set(connection, clock.monotonic());
    return connection;
  }

  #place() {
    const { peer, sourceAddress } = this.#options;
    const source = sourceAddress === undefined ? {} : { localAddress: sourceAddress };
    return { host: peer.address, port: peer.port, ...source };
  }

  #openTls({ serverName, authorities, own }: TlsPeer): Socket {
    const expected = serverName ?? this.#options.peer.address.replace(/%.*/, '');
    const { checkServerIdentity, connect: connectTls } = loadTls();
    const socket = connectTls({
      ...this.#place(),
      minVersion: 'TLSv1.2',
      // An address is not a valid server name (RFC 6066 section 3).
      servername: isIP(expected) === 0 ? expected : '',
      checkServerIdentity: (_, certificate) => {
        const error = checkServerIdentity(expected, certificate);
        return error && otherNameError(certificate.subjectaltname ?? '', expected);
      },
      ...(authorities === undefined ? {} : { ca: [...authorities] }),
      ...(own === undefined ? {} : { cert: own.certificate, key: own.key }),
      ...(this.#session === undefined ? {} : { session: this.#session }),
    });
    socket.on('session', (session) => {
      this.#session = session;
    });
    return socket;
  }

  #closed(
    connection: UpstreamConnection<StreamQuery>,
    code: string,
    entries: readonly StreamQuery[],
    wasReady: boolean,
  ): void {
    this.#connections = this.#connections.filter((other) => other !== connection);
    this.#leaving.delete(connection);
    if (!wasReady) this.#session = undefined;
    for (const entry of entries) {
      entry.connection = undefined;
      if (entry.isRepeated || !wasReady) {
        entry.events.failed(code);
        continue;
      }
      entry.isRepeated = true;
      this.#send(entry);
    }
  }
}

/** In the words of CoreDNS's logs that people search for. @param names as Node lists them: `DNS:localhost, IP Address:127.0.0.1` */
function otherNameError(names: string, expected: string): Error {
  const kind = isIP(expected) === 0 ? 'DNS:' : 'IP Address:';
  const valid = names.split(', ').flatMap((name) => (name.startsWith(kind) ? name.slice(kind.length) : []));
  return new Error(
    `tls: failed to verify certificate: x509: certificate is valid for ${valid.join(', ')}, not ${expected}`,
  );
}
