/**
 * The HTTP server that kubelet and Prometheus ask: `/readiness`, `/readyz`, `/healthz`, `/metrics`.
 *
 * `/healthz` says that the main thread is alive, nothing more: a process that cannot reach the API server is not made
 * better by a restart. Readiness says in words what is missing.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock, Timer } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';

/** Whether queries should be sent here; if not, why. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string };

export interface HealthAnswers {
  readiness(): Readiness;
  /** In the text format of Prometheus. */
  metrics(): Promise<string>;
}

export interface HealthOptions {
  /** Undefined: all addresses, of both families where there are two. */
  readonly address: string | undefined;
  /** 0: any free port. */
  readonly port: number;
  /** Keep trying while another process has the port, instead of failing. */
  readonly waitForPort: boolean;
}

export class HealthServerError extends Error {
  override readonly name = 'HealthServerError';
  readonly port: number;

  constructor(port: number, address: string | undefined, cause: NodeJS.ErrnoException) {
    const where = `${address ?? 'all addresses'}, port ${port}`;
    super(`cannot listen for health checks: ${where}: ${cause.code}. Choose another with --healthz-port.`, {
      cause,
    });
    this.port = port;
  }
}

const RETRY_MILLISECONDS = 1_000;
const PLAIN = 'text/plain; charset=utf-8';
const METRICS = 'text/plain; version=0.0.4; charset=utf-8';

export class HealthServer {
  readonly #options: HealthOptions;
  readonly #answers: HealthAnswers;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #server: Server;
  #retry: Timer | undefined;

  constructor(options: HealthOptions, answers: HealthAnswers, clock: Clock, log: Log) {
    this.#options = options;
    this.#answers = answers;
    this.#clock = clock;
    this.#log = log;
    this.#server = createServer((request, response) => void this.#answer(request, response));
    // Probes are short and few: nobody may hold the server's memory or its end.
    this.#server.maxConnections = 256;
    this.#server.headersTimeout = 5_000;
    this.#server.requestTimeout = 5_000;
    this.#server.keepAliveTimeout = 5_000;
  }

  /**
   * Listens, or begins to wait for the port.
   *
   * @throws HealthServerError
   */
  async start(): Promise<void> {
    try {
      await this.#listen();
    } catch (error) {
      const cause = error as NodeJS.ErrnoException; // What `listen` fails with.
      if (cause.code !== 'EADDRINUSE' || !this.#options.waitForPort)
        throw new HealthServerError(this.#options.port, this.#options.address, cause);
      this.#log.warn('health port in use, waiting for it', { port: this.#options.port });
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
        // Too many open files, say: the next probe may succeed.
        this.#server.on('error', (error) =>
          this.#log.warn('health server failed', { reason: error.message }),
        );
        resolve();
      });
    });
  }

  #tryLater(): void {
    this.#retry = this.#clock.after(RETRY_MILLISECONDS, () => {
      this.#listen().then(
        () => this.#log.info('health port taken over', { port: this.port }),
        () => this.#tryLater(),
      );
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.resume();
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      return send(response, 405, PLAIN, 'only GET and HEAD\n');
    }
    switch (request.url?.split('?')[0]) {
      case '/healthz':
        return send(response, 200, PLAIN, 'ok\n');
      case '/readiness':
      case '/readyz': {
        const readiness = this.#answers.readiness();
        if (readiness.ready) return send(response, 200, PLAIN, 'ok\n');
        return send(response, 503, PLAIN, `${readiness.reason}\n`);
      }
      case '/metrics':
        return this.#sendMetrics(response);
      default:
        return send(response, 404, PLAIN, 'not here: try /readyz, /readiness, /healthz or /metrics\n');
    }
  }

  async #sendMetrics(response: ServerResponse): Promise<void> {
    try {
      send(response, 200, METRICS, await this.#answers.metrics());
    } catch (error) {
      this.#log.error('metrics failed', { reason: String(error) });
      send(response, 500, PLAIN, 'metrics failed, see the log\n');
    }
  }
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
