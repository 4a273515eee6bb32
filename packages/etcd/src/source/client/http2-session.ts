/**
 * An HTTP/2 connection to one member of etcd that is watched by pings while streams are open.
 */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { formatHost } from '@portolan/kernel/base/socket-address.ts';
import { endHttp2Session } from '@portolan/kernel/forward/transport/http-requests.ts';
import type { EtcdEndpoint } from './endpoints.ts';
import type { TlsContents } from './settings.ts';

/** Milliseconds until a connection must be open. */
const CONNECTING = 5_000;
/** Milliseconds. Members refuse clients that send pings more often than every 5 s. */
const KEEPALIVE = 10_000;
const KEEPALIVE_TIMEOUT = 5_000;
/** Octets that a member may send before they are acknowledged: a page of a range is larger than HTTP/2's 64 KiB. */
const WINDOW = 2 ** 20;
/** Megabytes of requests and responses in memory. */
const SESSION_MEMORY = 100;

export class Http2Session {
  readonly #session: ClientHttp2Session;
  readonly #clock: Clock;
  #timer: Timer;
  #streams = 0;
  #fault: Error | undefined;
  #isEnding = false;

  /** Begins to connect. @param tls undefined: without TLS */
  constructor({ host, port }: EtcdEndpoint, tls: TlsContents | undefined, clock: Clock) {
    this.#clock = clock;
    const authority = `${formatHost(host)}:${port}`;
    this.#session = connect(`${tls === undefined ? 'http' : 'https'}://${authority}`, {
      settings: { enablePush: false, initialWindowSize: WINDOW },
      maxSessionMemory: SESSION_MEMORY,
      ...(tls !== undefined && {
        ca: tls.authority,
        cert: tls.certificate,
        key: tls.key,
        checkServerIdentity: (_: string, peer: PeerCertificate) => checkServerIdentity(host, peer),
      }),
    });
    this.#timer = clock.after(CONNECTING, () => this.#give(`no connection within ${CONNECTING} ms`));
    this.#session.on('error', (error) => {
      this.#fault ??= error;
    });
    this.#session.on('connect', () => {
      this.#session.setLocalWindowSize(WINDOW);
      this.#watch();
    });
    this.#session.on('close', () => this.#timer.cancel());
  }

  /** Whether new streams can be opened. */
  get isUsable(): boolean {
    return !this.#isEnding && !this.#session.closed && !this.#session.destroyed;
  }

  /** Why the connection failed; undefined: it has not, or the member has closed it. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  /** @throws Error if the connection is not usable */
  open(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    const stream = this.#session.request(headers);
    this.#streams += 1;
    stream.once('close', () => {
      this.#streams -= 1;
    });
    return stream;
  }

  /** Ends all streams. */
  close(): void {
    this.#timer.cancel();
    this.#end();
  }

  #watch(): void {
    this.#timer.cancel();
    this.#timer = this.#clock.after(KEEPALIVE, () => {
      if (this.#streams === 0) this.#watch();
      else this.#ping();
    });
  }

  #ping(): void {
    if (!this.isUsable) return;
    this.#timer = this.#clock.after(KEEPALIVE_TIMEOUT, () =>
      this.#give(`no answer to a ping within ${KEEPALIVE_TIMEOUT} ms`),
    );
    this.#session.ping(() => {
      if (this.isUsable) this.#watch();
    });
  }

  #give(reason: string): void {
    this.#fault ??= new Error(reason);
    this.#end(this.#fault);
  }

  #end(error?: Error): void {
    this.#isEnding = true;
    endHttp2Session(this.#session, error);
  }
}
