/**
 * A small HTTP server for kubelet probes, Prometheus and operators with curl. It has fixed, read-only paths, each handled by a
 * function, and withstands any number of hostile connections; see `http-connections.ts` for the limits.
 */
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { RateLimitedWarnings } from '@portolan/kernel/base/rate-limited-warning.ts';
import type { TlsIdentity } from '@portolan/kernel/listen/secure/tls-identity.ts';
import type { TlsServer, TlsServerOptions } from '@portolan/kernel/listen/secure/tls-server.ts';
import type { Encryption } from '@portolan/kernel/listen/tcp.ts';
import { type DropCounts, HttpConnections } from './http-connections.ts';
import { type HttpReply, type HttpRoute, PLAIN_TEXT } from './http-route.ts';
import { SharedReplies } from './http-shared-replies.ts';

/** An open listener for `net.Server.listen`, which then owns the descriptor. */
export interface SharedPort {
  readonly fd: number;
}

/** A port that the process opened before this code was loaded. */
export interface EarlyListener {
  /** The HTTP server takes its handle over. */
  readonly handle: NetServer;
  /** Connections that were accepted meanwhile, paused. */
  readonly waiting: readonly Socket[];
}

/** What all ports of a process have in common. */
export interface HttpHostDependencies {
  readonly clock: Clock;
  readonly log: Log;
  /** Hands over a port that is open already; undefined if it is closed. Default: no port is. */
  readonly takeEarlyPort?: (place: {
    readonly address: string | undefined;
    readonly port: number;
  }) => Promise<EarlyListener | undefined>;
}

export interface HttpServerOptions {
  /** Undefined: all addresses of all families of the machine. */
  readonly address: string | undefined;
  /** 0: any free port. */
  readonly port: number;
  /** Whether to retry while another process holds the port, instead of failing. */
  readonly waitForPort: boolean;
  /** Opens a port that consecutive processes share, such as `openSharedPort`. Default: the port is not shared. */
  readonly openPort?: ((address: string | undefined, port: number) => SharedPort | undefined) | undefined;
  /** The flag that sets the port, for error messages: `--healthz-port`. */
  readonly flag: string;
  /** Whether to behave as Go's servers: every method counts as GET, and unknown paths get Go's 404. Default: no. */
  readonly answersAsGo?: boolean;
  /** Whether replies may take longer than the write timeout. Default: no. */
  readonly takesTime?: boolean;
  /** Undefined: connections are not encrypted. */
  readonly encryption?: Encryption | undefined;
  /** Given to servers that may be encrypted: small programs do without the code for it. */
  readonly makeTlsServer?: (options: TlsServerOptions) => TlsServer;
  /** Of every reply. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What a request gets instead of the reply of its path; undefined: that reply. Default: no request is refused. */
  readonly refuse?: (path: string, headers: IncomingHttpHeaders) => HttpReply | undefined;
}

/** The text of Go's HTTP servers for an unknown path. */
const GO_NOT_FOUND = '404 page not found\n';

export class HttpServerError extends Error {
  override readonly name = 'HttpServerError';
  readonly port: number;
  /** The error code of the system call, such as `EADDRINUSE`. */
  readonly code: string | undefined;

  constructor({ address, port, flag }: HttpServerOptions, cause: NodeJS.ErrnoException) {
    const where = `${address ?? 'all addresses'}, port ${port}`;
    super(`cannot listen for HTTP: ${where}: ${cause.code}. Choose another with ${flag}.`, { cause });
    this.port = port;
    this.code = cause.code;
  }
}

const RETRY_MILLISECONDS = 1_000;
const MAX_CONNECTIONS = 256;
const MAX_CONNECTIONS_PER_CLIENT = 64;
/** Connections that the kernel queues until they are accepted, limited by `net.core.somaxconn`. */
const BACKLOG = 4_096;
/** Milliseconds until a request must be complete. */
const REQUEST_TIMEOUT = 5_000;
/** Milliseconds in which a client must read a part of its response. */
const WRITE_TIMEOUT = 10_000;
/** Milliseconds between checks of the timeouts. */
const TIMEOUT_CHECK_INTERVAL = 1_000;

/** One port. Only `HttpHost` makes it. */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #routes: ReadonlyMap<string, HttpRoute>;
  readonly #dependencies: HttpHostDependencies;
  readonly #server: Server;
  readonly #connections: HttpConnections;
  readonly #replies: SharedReplies;
  #retry: Timer | undefined;
  #tls: TlsServer | undefined;
  /** The current try to listen, which never rejects. */
  #listening: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  /** @param routes by path, such as `/healthz`; looked up at each request, so they may change at run time */
  constructor(
    options: HttpServerOptions,
    routes: ReadonlyMap<string, HttpRoute>,
    dependencies: HttpHostDependencies,
  ) {
    const { clock, log } = dependencies;
    this.#options = options;
    this.#routes = routes;
    this.#dependencies = dependencies;
    this.#replies = new SharedReplies(clock);
    const settings = { connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL };
    this.#server = createServer(settings, (request, response) => void this.#answer(request, response));
    this.#server.headersTimeout = REQUEST_TIMEOUT;
    this.#server.requestTimeout = REQUEST_TIMEOUT;
    this.#server.timeout = WRITE_TIMEOUT;
    const limits = {
      perClient: MAX_CONNECTIONS_PER_CLIENT,
      total: MAX_CONNECTIONS,
      firstRequestTimeout: REQUEST_TIMEOUT,
    };
    const warnings = new RateLimitedWarnings(log, clock);
    this.#connections = new HttpConnections(limits, clock, (reason, client) =>
      warnings.warn('HTTP connections closed', { port: this.port, reason, client }),
    );
    this.encrypt(options.encryption);
    this.#connections.watch(this.#server, () => {
      const tls = this.#tls;
      return tls && ((socket, onSecure) => tls.secure(socket, onSecure));
    });
  }

  /**
   * Encrypts connections that are accepted from now on by other rules, or not at all.
   *
   * @throws Error as `checkIdentity`, and TypeError for a server without `makeTlsServer`
   */
  encrypt(encryption: Encryption | undefined): void {
    const { makeTlsServer } = this.#options;
    if (encryption !== undefined && makeTlsServer === undefined)
      throw new TypeError('an HTTP server that is never encrypted');
    const tls =
      encryption &&
      makeTlsServer?.({ ...encryption, protocols: ['http/1.1'], clock: this.#dependencies.clock });
    this.#tls?.stop();
    this.#tls = tls;
  }

  /** Uses another certificate from now on. @throws Error as `checkIdentity` */
  renew(identity: TlsIdentity): void {
    this.#tls?.renew(identity);
  }

  /**
   * Listens, or starts to wait for the port.
   *
   * @throws HttpServerError
   */
  async start(): Promise<void> {
    try {
      await this.#tryToListen();
    } catch (error) {
      const cause = error as NodeJS.ErrnoException; // Errors of `listen` are of this type.
      if (cause.code !== 'EADDRINUSE' || !this.#options.waitForPort)
        throw new HttpServerError(this.#options, cause);
      this.#dependencies.log.warn('HTTP port in use, waiting for it', { port: this.#options.port });
      this.#tryLater();
    }
  }

  /** The open port; undefined while waiting for it. */
  get port(): number | undefined {
    const address = this.#server.address() as AddressInfo | null; // Never a path: the server listens only on ports.
    return address?.port;
  }

  /** Connections that were closed before their requests were answered. */
  get drops(): DropCounts {
    return this.#connections.drops;
  }

  /** Closes all connections immediately, so that new requests go to the next process. Ends a start, too. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#retry?.cancel();
    await this.#listening;
    this.#tls?.stop();
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#connections.closeAll();
    await closed;
  }

  #tryToListen(): Promise<void> {
    const listening = this.#listen();
    this.#listening = listening.catch(() => {});
    return listening;
  }

  async #listen(): Promise<void> {
    const { address, port, openPort } = this.#options;
    const early = await this.#dependencies.takeEarlyPort?.({ address, port });
    await new Promise<void>((resolve, reject) => {
      const server = this.#server;
      const onListening = () => {
        server.off('error', onError);
        // For example too many open files: the next request may succeed.
        server.on('error', ({ message }) =>
          this.#dependencies.log.warn('HTTP server failed', { reason: message }),
        );
        resolve();
      };
      const onError = (error: Error) => {
        // The next try has its own.
        server.off('listening', onListening);
        reject(error);
      };
      server.once('error', onError).once('listening', onListening);
      if (early !== undefined) return void server.listen(early.handle, BACKLOG).ref();
      const own = address === undefined ? { port } : { port, host: address };
      const place = openPort?.(address, port) ?? own;
      server.listen({ ...place, backlog: BACKLOG });
    });
    for (const socket of early?.waiting ?? []) {
      this.#server.emit('connection', socket);
      socket.resume();
    }
  }

  #tryLater(): void {
    if (this.#isStopped) return;
    const { clock, log } = this.#dependencies;
    this.#retry = clock.after(RETRY_MILLISECONDS, () => {
      this.#tryToListen().then(
        () => log.info('HTTP port taken over', { port: this.port }),
        () => this.#tryLater(),
      );
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    // One request per connection: further data is ignored.
    response.shouldKeepAlive = false;
    if (request.socket.destroyed) return;
    const { answersAsGo = false, headers = {}, refuse } = this.#options;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (!answersAsGo && request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return sendBody(response, 405, PLAIN_TEXT, 'only GET and HEAD\n');
    }
    const [path = '', query = ''] = request.url?.split('?') ?? [];
    const refusal = refuse?.(path, request.headers);
    if (refusal !== undefined) return send(response, refusal, request.method === 'HEAD');
    const route = this.#routes.get(path);
    if (route === undefined) {
      const paths = [...this.#routes.keys()].join(', ');
      const text = answersAsGo ? GO_NOT_FOUND : `not found: the paths are ${paths}\n`;
      return sendBody(response, 404, PLAIN_TEXT, text);
    }
    try {
      if (this.#options.takesTime === true) request.socket.setTimeout(0);
      const reply = await this.#replies.reply(route, new URLSearchParams(query));
      await send(response, reply, request.method === 'HEAD');
    } catch (error) {
      this.#dependencies.log.error('HTTP request failed', { path, reason: String(error) });
      if (response.headersSent) response.destroy();
      else sendBody(response, 500, PLAIN_TEXT, 'internal error: see the log\n');
    }
  }
}

async function send(response: ServerResponse, reply: HttpReply, isHead: boolean): Promise<void> {
  const { status, type, body } = reply;
  if (typeof body === 'string' || body instanceof Uint8Array) return sendBody(response, status, type, body);
  response.writeHead(status, { 'content-type': type });
  if (isHead) return void response.end();
  for await (const piece of body) {
    if (!response.write(piece)) await untilWritable(response);
    if (response.destroyed) return;
  }
  response.end();
}

function sendBody(response: ServerResponse, status: number, type: string, body: string | Uint8Array): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** Resolves when the socket accepts more data, or is closed. */
function untilWritable(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = () => {
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.on('drain', settle).on('close', settle);
  });
}
