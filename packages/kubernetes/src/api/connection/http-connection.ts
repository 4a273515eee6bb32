/**
 * Requests to an API server over HTTP/1.1, on persistent connections with TCP keepalive.
 */
import {
  type Agent,
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { createGunzip } from 'node:zlib';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { type Authentication, authenticate, expireCredentials } from './authentication.ts';
import { RequestError } from './errors.ts';
import { makeProxyAgent } from './proxy.ts';
import type { ConnectionSettings } from './settings.ts';
import type { ApiResponse, Connection, RequestOptions } from './types.ts';

/** Milliseconds without traffic before the kernel sends a keepalive probe. */
const TCP_KEEPALIVE = 30_000;
const AGENT_OPTIONS = { keepAlive: true, keepAliveMsecs: TCP_KEEPALIVE };

/** Milliseconds after which a connection is replaced, so that the load spreads over all API servers again. */
const MAX_CONNECTION_AGE = 900_000;

/** Errors of a connection that was never established. */
const NOT_CONNECTED: readonly unknown[] = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'];

/** A kept connection that the server has just closed is noticed only when we write to it. */
const CLOSED_MEANWHILE: readonly unknown[] = ['ECONNRESET', 'EPIPE'];

/** Prepares a connection as the settings say; sends nothing yet. */
export async function openConnection(settings: ConnectionSettings, clock: Clock): Promise<HttpConnection> {
  const { proxy } = settings;
  if (proxy === undefined) return new HttpConnection(settings, clock);
  return new HttpConnection(settings, clock, await makeProxyAgent(proxy, AGENT_OPTIONS));
}

function makeDirectAgent({ server }: ConnectionSettings, clock: Clock): Agent {
  const agent = server.protocol === 'https:' ? new HttpsAgent(AGENT_OPTIONS) : new HttpAgent(AGENT_OPTIONS);
  return renewConnections(agent, clock);
}

/** Makes an agent close old connections at the end of a request instead of using them again. */
function renewConnections(agent: HttpAgent, clock: Clock): Agent {
  const opened = new WeakMap<object, number>();
  agent.on('free', (socket: object) => {
    if (!opened.has(socket)) opened.set(socket, clock.monotonic());
  });
  const keep = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    const since = opened.get(socket) ?? clock.monotonic();
    return clock.monotonic() - since < MAX_CONNECTION_AGE && keep(socket);
  };
  return agent;
}

export class HttpConnection implements Connection {
  readonly kind = 'connection';
  readonly server: string;
  readonly source: string;
  readonly #settings: ConnectionSettings;
  readonly #clock: Clock;
  readonly #agent: Agent;

  /** @param agent keeps the connections to the server and handles a proxy, see `openConnection` */
  constructor(settings: ConnectionSettings, clock: Clock, agent: Agent = makeDirectAgent(settings, clock)) {
    this.#settings = settings;
    this.#clock = clock;
    this.server = `${settings.server.origin}${basePath(settings.server)}`;
    this.source = settings.source;
    this.#agent = agent;
  }

  async request(path: string, options: RequestOptions = {}): Promise<ApiResponse> {
    const authentication = await this.#authenticate(path);
    try {
      return await this.#send(path, options, authentication);
    } catch (error) {
      if (!(error instanceof RequestError && error.cause instanceof StaleSocket)) throw error;
      return this.#send(path, options, authentication);
    }
  }

  refreshCredentials(): void {
    expireCredentials(this.#settings);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #authenticate(path: string): Promise<Authentication> {
    try {
      return await authenticate(this.#settings);
    } catch (error) {
      const words = describeError(error);
      throw new RequestError(path, 'credentials', `the credentials cannot be read: ${words}`, error);
    }
  }

  #send(path: string, options: RequestOptions, authentication: Authentication): Promise<ApiResponse> {
    options.signal?.throwIfAborted();
    const { server, compresses = true } = this.#settings;
    const send = server.protocol === 'https:' ? httpsRequest : httpRequest;
    const headers = {
      accept: 'application/json',
      // The server compresses only large lists, and never a watch.
      'accept-encoding': compresses ? 'gzip' : 'identity',
      'user-agent': 'portolan',
      ...authentication.headers,
      ...options.headers,
    };
    return new Promise((resolve, reject) => {
      const request = send({
        // Proxy agents need these fields to find a kept connection again.
        protocol: server.protocol,
        host: server.hostname.replace(/^\[|\]$/g, ''),
        port: server.port === '' ? undefined : Number(server.port),
        path: `${basePath(server)}${path}`,
        method: options.method ?? 'GET',
        headers,
        agent: this.#agent,
        ...authentication.tls,
        ...(options.signal === undefined ? {} : { signal: options.signal }),
      });
      const timer = this.#limit(request, options.timeout);
      request.once('socket', (socket) => {
        socket.setKeepAlive(true, TCP_KEEPALIVE);
        if (socket.connecting) this.#limitConnect(request, socket, options.connectTimeout);
      });
      request.once('response', (response) => {
        timer?.cancel();
        resolve(toResponse(response));
      });
      // Registered for the life of the request: an error after the answer goes to the reader of its body.
      request.on('error', (error) => {
        timer?.cancel();
        reject(this.#explain(path, request, error));
      });
      request.end(options.body);
    });
  }

  #limit(request: ClientRequest, milliseconds: number | undefined): Timer | undefined {
    if (milliseconds === undefined) return undefined;
    return this.#clock.after(milliseconds, () =>
      request.destroy(new Error(`no answer within ${milliseconds / 1000} s`)),
    );
  }

  /** A server that has just started may accept connections seconds before it speaks TLS. */
  #limitConnect(request: ClientRequest, socket: Socket, milliseconds: number | undefined): void {
    if (milliseconds === undefined) return;
    const timer = this.#clock.after(milliseconds, () => request.destroy(new ConnectTimeout(milliseconds)));
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => timer.cancel());
    socket.once('close', () => timer.cancel());
  }

  #explain(path: string, request: ClientRequest, error: NodeJS.ErrnoException): Error {
    const stale = request.reusedSocket && CLOSED_MEANWHILE.includes(error.code);
    const cause = stale ? new StaleSocket() : error;
    const isUnreachable = error instanceof ConnectTimeout || NOT_CONNECTED.includes(error.code);
    const reason = isUnreachable ? 'unreachable' : 'network';
    return new RequestError(path, reason, `${this.server}: ${describe(error)}`, cause);
  }
}

class ConnectTimeout extends Error {
  constructor(milliseconds: number) {
    super(`no connection within ${milliseconds / 1000} s`);
  }
}

/** A request failed because the server had closed the kept connection: it may be sent again. */
class StaleSocket extends Error {}

/** If neither IPv4 nor IPv6 works, the error is an AggregateError without a message. */
function describe(error: NodeJS.ErrnoException): string {
  if (error instanceof AggregateError) {
    return error.errors.map((one: unknown) => describeError(one)).join(', ');
  }
  const remedy = error.code === undefined ? undefined : remedies.get(error.code);
  return remedy === undefined ? error.message : `${error.message}; ${remedy}`;
}

const AUTHORITY = 'check certificate-authority in the kubeconfig, or ca.crt of the service account';
const remedies: ReadonlyMap<string, string> = new Map<string, string>([
  ['SELF_SIGNED_CERT_IN_CHAIN', AUTHORITY],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', AUTHORITY],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', AUTHORITY],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', AUTHORITY],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'check the server address, or set tls-server-name'],
]);

function toResponse(response: IncomingMessage): ApiResponse {
  // Without a listener an error that comes before the body is read would end the process.
  response.on('error', () => {});
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: unpack(response),
    discard: () => response.destroy(),
  };
}

/** The decompressed octets of a body. A connection error goes to the reader in both cases. */
function unpack(response: IncomingMessage): AsyncIterable<Uint8Array> {
  if (response.headers['content-encoding'] !== 'gzip') return response;
  const unpacked = createGunzip();
  pipeline(response, unpacked, () => {});
  return unpacked;
}

function basePath(server: URL): string {
  return server.pathname.replace(/\/+$/, '');
}
