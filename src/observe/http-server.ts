/**
 * A small HTTP server for those who look in: kubelet's probes, Prometheus, an operator with curl. Fixed paths, to be read
 * only; each is answered by a function.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock, Timer } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';

export interface HttpReply {
  readonly status: number;
  /** The media type, with its character set. */
  readonly type: string;
  /** What comes in pieces is sent piece by piece, each when the client has taken the one before. */
  readonly body: string | AsyncIterable<string>;
}

/** Answers one path. What it throws is logged, and told to the client as 500 without the reason. */
export type HttpRoute = () => HttpReply | Promise<HttpReply>;

export interface HttpServerOptions {
  /** Undefined: all addresses, of both families where there are two. */
  readonly address: string | undefined;
  /** 0: any free port. */
  readonly port: number;
  /** Keep trying while another process has the port, instead of failing. */
  readonly waitForPort: boolean;
  /** What chooses the port, for the remedy of an error: `--healthz-port`. */
  readonly flag: string;
}

export class HttpServerError extends Error {
  override readonly name = 'HttpServerError';
  readonly port: number;

  constructor({ address, port, flag }: HttpServerOptions, cause: NodeJS.ErrnoException) {
    const where = `${address ?? 'all addresses'}, port ${port}`;
    super(`cannot listen for HTTP: ${where}: ${cause.code}. Choose another with ${flag}.`, { cause });
    this.port = port;
  }
}

const RETRY_MILLISECONDS = 1_000;
export const PLAIN_TEXT = 'text/plain; charset=utf-8';

export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #routes: ReadonlyMap<string, HttpRoute>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #server: Server;
  #retry: Timer | undefined;

  /** @param routes by path, `/healthz`; looked up at each request, so they may change while the server runs */
  constructor(options: HttpServerOptions, routes: ReadonlyMap<string, HttpRoute>, clock: Clock, log: Log) {
    this.#options = options;
    this.#routes = routes;
    this.#clock = clock;
    this.#log = log;
    this.#server = createServer((request, response) => void this.#answer(request, response));
    // Probes are short and few: nobody may hold the server's memory or its end.
    this.#server.maxConnections = 256;
    this.#server.headersTimeout = 5_000;
    this.#server.requestTimeout = 5_000;
    this.#server.keepAliveTimeout = 5_000;
    this.#server.timeout = 30_000;
  }

  /**
   * Listens, or begins to wait for the port.
   *
   * @throws HttpServerError
   */
  async start(): Promise<void> {
    try {
      await this.#listen();
    } catch (error) {
      const cause = error as NodeJS.ErrnoException; // What `listen` fails with.
      if (cause.code !== 'EADDRINUSE' || !this.#options.waitForPort)
        throw new HttpServerError(this.#options, cause);
      this.#log.warn('HTTP port in use, waiting for it', { port: this.#options.port });
      this.#tryLater();
    }
  }

  /** The port that is listened on; nothing while it is waited for. */
  get port(): number | undefined {
    const address = this.#server.address() as AddressInfo | null; // Never a path: we listen on ports only.
    return address?.port;
  }

  /** Ends at once: what is asked now is asked of the next process. */
  async stop(): Promise<void> {
    this.#retry?.cancel();
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  #listen(): Promise<void> {
    const { address, port } = this.#options;
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ port, ...(address === undefined ? {} : { host: address }) }, () => {
        this.#server.off('error', reject);
        // Too many open files, say: the next request may succeed.
        this.#server.on('error', (error) => this.#log.warn('HTTP server failed', { reason: error.message }));
        resolve();
      });
    });
  }

  #tryLater(): void {
    this.#retry = this.#clock.after(RETRY_MILLISECONDS, () => {
      this.#listen().then(
        () => this.#log.info('HTTP port taken over', { port: this.port }),
        () => this.#tryLater(),
      );
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return sendText(response, 405, PLAIN_TEXT, 'only GET and HEAD\n');
    }
    const path = request.url?.split('?')[0] ?? '';
    const route = this.#routes.get(path);
    if (route === undefined) {
      const paths = [...this.#routes.keys()].join(', ');
      return sendText(response, 404, PLAIN_TEXT, `not here, but: ${paths}\n`);
    }
    try {
      await send(response, await route(), request.method === 'HEAD');
    } catch (error) {
      this.#log.error('HTTP request failed', { path, reason: String(error) });
      if (response.headersSent) response.destroy();
      else sendText(response, 500, PLAIN_TEXT, 'failed, see the log\n');
    }
  }
}

async function send(response: ServerResponse, reply: HttpReply, isHead: boolean): Promise<void> {
  const { status, type, body } = reply;
  if (typeof body === 'string') return sendText(response, status, type, body);
  response.writeHead(status, { 'content-type': type });
  if (isHead) return void response.end();
  for await (const piece of body) {
    if (!response.write(piece)) await untilTaken(response);
    if (response.destroyed) return;
  }
  response.end();
}

function sendText(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** Settles when there is room for more, or nobody left to send it to. */
function untilTaken(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const settle = () => {
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.on('drain', settle).on('close', settle);
  });
}
