/**
 * Queries over HTTPS (RFC 8484), on connections that Node's agent keeps open. The path is `/dns-query`.
 *
 * HTTP matches each reply to its query, so the message id is always 0, as section 4.1 recommends for HTTP caches.
 *
 * A server may close an idle connection just when a query is sent, or before its reply is whole. The query is then sent again at once.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Agent } from 'node:https';
import { isIP } from 'node:net';
import { decodeMessage } from '@portolan/dns/message.ts';
import { MAX_MESSAGE_OCTETS } from '@portolan/dns/response-size.ts';
import { WireError } from '@portolan/dns/wire-error.ts';
import type { SocketAddress } from '../../socket/addresses.ts';
import type { QueryMessage } from './query-message.ts';
import type { TlsPeer } from './stream-transport.ts';
import {
  type DroppedPackets,
  type Exchange,
  type ExchangeEvents,
  type Transport,
  toErrorCode,
} from './transport.ts';

export interface HttpsTransportOptions {
  readonly peer: SocketAddress;
  readonly tls: TlsPeer;
  readonly method: 'POST' | 'GET';
  /** Undefined: the system's choice. */
  readonly sourceAddress: string | undefined;
}

const PATH = '/dns-query';
const MEDIA_TYPE = 'application/dns-message';

/** Loaded when first used: most servers use other transports. */
const loadHttps = () => process.getBuiltinModule('node:https');

export class HttpsTransport implements Transport {
  readonly isReliable = true;
  readonly dropped: DroppedPackets = { strange: 0, otherQuestion: 0, otherCase: 0 };
  readonly #options: HttpsTransportOptions;
  #agent: Agent | undefined;

  constructor(options: HttpsTransportOptions) {
    this.#options = options;
  }

  ask({ octets }: QueryMessage, events: ExchangeEvents): Exchange {
    const exchange = new HttpsExchange(() => this.#request(octets), events);
    return { overdue() {}, cancel: () => exchange.cancel() };
  }

  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  #request(octets: Uint8Array): ClientRequest {
    const { peer, tls, method, sourceAddress } = this.#options;
    const { Agent: HttpsAgent, request } = loadHttps();
    this.#agent ??= new HttpsAgent({ keepAlive: true, maxCachedSessions: 4 });
    const { serverName = peer.address, authorities, own } = tls;
    const sent = request({
      host: peer.address,
      port: peer.port,
      ...(sourceAddress !== undefined && { localAddress: sourceAddress }),
      method,
      path: method === 'GET' ? `${PATH}?dns=${Buffer.from(octets).toString('base64url')}` : PATH,
      agent: this.#agent,
      headers: {
        host: serverName.includes(':') ? `[${serverName}]` : serverName,
        accept: MEDIA_TYPE,
        ...(method === 'POST' && { 'content-type': MEDIA_TYPE, 'content-length': octets.length }),
      },
      servername: isIP(serverName) === 0 ? serverName : '',
      ...(authorities !== undefined && { ca: [...authorities] }),
      ...(own !== undefined && { cert: own.certificate, key: own.key }),
    });
    sent.end(method === 'POST' ? octets : undefined);
    return sent;
  }
}

/** How often a query is sent again: after the idle connections, which may all be closed by now, a new one. */
const MAX_REPEATS = 3;
/** The connection was open, and ended. */
const LOSSES: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

class HttpsExchange {
  readonly #send: () => ClientRequest;
  readonly #events: ExchangeEvents;
  #request: ClientRequest;
  #repeats = 0;
  #isDone = false;

  constructor(send: () => ClientRequest, events: ExchangeEvents) {
    this.#send = send;
    this.#events = events;
    this.#request = this.#begin();
  }

  #begin(): ClientRequest {
    const request = this.#send();
    request.on('response', (response) => this.#read(response));
    request.on('error', (error) => this.#lose(request, toErrorCode(error)));
    return request;
  }

  /** @param request it may have been repeated by now */
  #lose(request: ClientRequest, code: string): void {
    if (this.#isDone || request !== this.#request) return;
    // On a new connection it is sent once more.
    this.#repeats += request.reusedSocket ? 1 : MAX_REPEATS - 1;
    if (this.#repeats > MAX_REPEATS || !LOSSES.has(code)) this.#fail(code);
    else this.#request = this.#begin();
  }

  cancel(): void {
    this.#isDone = true;
    this.#request.destroy();
  }

  #read(response: IncomingMessage): void {
    if (response.statusCode !== 200) {
      response.resume();
      this.#fail(`HTTP status ${response.statusCode}`);
      return;
    }
    const request = this.#request;
    const chunks: Uint8Array[] = [];
    let size = 0;
    response.on('data', (chunk: Uint8Array) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_MESSAGE_OCTETS) request.destroy(new Error('response larger than a DNS message'));
    });
    response.on('error', (error) => this.#lose(request, toErrorCode(error)));
    response.on('end', () => this.#decode(Buffer.concat(chunks)));
  }

  #decode(octets: Uint8Array): void {
    if (this.#isDone) return;
    try {
      const message = decodeMessage(octets);
      this.#isDone = true;
      this.#events.replied(message, octets.length);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#fail('malformed');
    }
  }

  #fail(code: string): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#events.failed(code);
  }
}
