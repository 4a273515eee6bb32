/**
 * The HTTP ports of a process, by name: they open and close while it runs. Their counts stay when they close.
 */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { type DropCounts, NO_DROPS, sumDrops } from './http-connections.ts';
import type { HttpRoute } from './http-route.ts';
import { HttpServer, type HttpServerOptions } from './http-server.ts';

/** A port, and what it serves. */
export interface HttpPort {
  /** Of no other open port of the host. */
  readonly name: string;
  readonly options: HttpServerOptions;
  /** By path; they may change at run time. */
  readonly routes: ReadonlyMap<string, HttpRoute>;
}

export class HttpHost {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #servers = new Map<string, HttpServer>();
  #ended: DropCounts = NO_DROPS;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Listens, or starts to wait for the port.
   *
   * @throws HttpServerError
   * @throws Error if its certificate cannot be used
   */
  async open({ name, options, routes }: HttpPort): Promise<HttpServer> {
    const server = new HttpServer(options, routes, this.#clock, this.#log);
    await server.start();
    this.#servers.set(name, server);
    return server;
  }

  /** The open port; undefined if it is closed, or while waiting for it. */
  portOf(name: string): number | undefined {
    return this.#servers.get(name)?.port;
  }

  /** Connections of all ports that were closed before their requests were answered. */
  get drops(): DropCounts {
    return sumDrops([this.#ended, ...[...this.#servers.values()].map(({ drops }) => drops)]);
  }

  /** Closes these ports with all their connections, so that new requests go to the next process. */
  async close(names: readonly string[]): Promise<void> {
    const closing = names.flatMap((name) => this.#servers.get(name) ?? []);
    for (const name of names) this.#servers.delete(name);
    this.#ended = sumDrops([this.#ended, ...closing.map(({ drops }) => drops)]);
    await Promise.all(closing.map((server) => server.stop()));
  }

  async stop(): Promise<void> {
    await this.close([...this.#servers.keys()]);
  }
}
