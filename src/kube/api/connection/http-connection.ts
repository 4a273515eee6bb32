/**
 * Requests to an API server over HTTP/1.1, on connections that are kept and watched by TCP itself.
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
import type { Clock, Timer } from '../../../base/clock.ts';
import { type Authentication, authenticate, expireCredentials } from './authentication.ts';
import { RequestError } from './errors.ts';
import { makeProxyAgent } from './proxy.ts';
import type { ClusterSettings } from './settings.ts';
import type { ApiResponse, Connection, RequestOptions } from './types.ts';

/** After so many milliseconds without traffic the kernel asks whether the other side is still there. */
const TCP_KEEPALIVE = 30_000;
const AGENT_OPTIONS = { keepAlive: true, keepAliveMsecs: TCP_KEEPALIVE };

/** Milliseconds after which a connection is replaced, so that the load of several API servers evens out again. */
const MAX_CONNECTION_AGE = 900_000;

/** Errors of a connection that was never made. */
const NOT_CONNECTED: readonly unknown[] = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'];

/** A kept connection that the server has just closed is noticed only when we write to it. */
const CLOSED_MEANWHILE: readonly unknown[] = ['ECONNRESET', 'EPIPE'];

/** Makes ready what the settings ask for; nothing is sent yet. */
export async function openConnection(settings: ClusterSettings, clock: Clock): Promise<HttpConnection> {
  const { proxy } = settings;
  if (proxy === undefined) return new HttpConnection(settings, clock);
  return new HttpConnection(settings, clock, await makeProxyAgent(proxy, AGENT_OPTIONS));
}

function makeDirectAgent({ server }: ClusterSettings, clock: Clock): Agent {
  const agent = server.protocol === 'https:' ? new HttpsAgent(AGENT_OPTIONS) : new HttpAgent(AGENT_OPTIONS);
  return renewConnections(agent, clock);
}

/** Makes an agent close a connection after a time instead of using it again, at the end of a request. */
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
  readonly #settings: ClusterSettings;
  readonly #clock: Clock;
  readonly #agent: Agent;

  /** @param agent keeps the connections to the server; it knows the way through a proxy, see `openConnection` */
  constructor(settings: ClusterSettings, clock: Clock, agent: Agent = makeDirectAgent(settings, clock)) {
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
      const words = error instanceof Error ? error.message : String(error);
      throw new RequestError(path, 'credentials', `the credentials cannot be read: ${words}`, error);
    }
  }

  #send(path: string, options: RequestOptions, authentication: Authentication): Promise<ApiResponse> {
    options.signal?.throwIfAborted();
    const { server } = this.#settings;
    const send = server.protocol === 'https:' ? httpsRequest : httpRequest;
    const headers = {
      accept: 'application/json',
      // The server packs large lists only, and never a watch.
      'accept-encoding': 'gzip',
      'user-agent': 'portolan',
      ...authentication.headers,
      ...options.headers,
    };
    return new Promise((resolve, reject) => {
      const request = send({
        // Agents for proxies find a kept connection again only if they are told.
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
      // Stays for the life of the request: an error after the answer reaches the reader of its body.
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

  /** A server that has just started may accept connections for seconds before it speaks TLS. */
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

/** Marks a request that met a connection closed by the server meanwhile, and may be sent again. */
class StaleSocket extends Error {}

/** An address that answers neither by IPv4 nor by IPv6 fails with several errors and no message of its own. */
function describe(error: NodeJS.ErrnoException): string {
  if (error instanceof AggregateError) {
    return error.errors.map((one: unknown) => (one instanceof Error ? one.message : String(one))).join(', ');
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

/** The octets of a body. An error of the connection reaches the reader in either case. */
function unpack(response: IncomingMessage): AsyncIterable<Uint8Array> {
  if (response.headers['content-encoding'] !== 'gzip') return response;
  const unpacked = createGunzip();
  pipeline(response, unpacked, () => {});
  return unpacked;
}

function basePath(server: URL): string {
  return server.pathname.replace(/\/+$/, '');
}
