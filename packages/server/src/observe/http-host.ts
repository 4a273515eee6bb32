/**
 * The HTTP ports of a process, by name: the one place that listens for HTTP, whatever the role. Ports open and close while it runs.
 * Their counts stay when they close.
 */
import { type DropCounts, NO_DROPS, sumDrops } from './http-connections.ts';
import type { HttpRoute } from './http-route.ts';
import { type HttpHostDependencies, HttpServer, type HttpServerOptions } from './http-server.ts';

/** A port, and what it serves. */
export interface HttpPort {
  /** Of no other open port of the host. */
  readonly name: string;
  readonly options: HttpServerOptions;
  /** By path; they may change at run time. */
  readonly routes: ReadonlyMap<string, HttpRoute>;
}

export class HttpHost {
  readonly #dependencies: HttpHostDependencies;
  readonly #servers = new Map<string, HttpServer>();
  #ended = NO_DROPS;

  constructor(dependencies: HttpHostDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Listens, or starts to wait for the port.
   *
   * @throws HttpServerError
   * @throws Error if its certificate cannot be used, or a port of this name is open
   */
  async open({ name, options, routes }: HttpPort): Promise<HttpServer> {
    if (this.#servers.has(name)) throw new Error(`an HTTP port of this name is open: ${name}`);
    const server = new HttpServer(options, routes, this.#dependencies);
    // Before it listens, so that a stop meanwhile closes it.
    this.#servers.set(name, server);
    try {
      await server.start();
    } catch (error) {
      if (this.#servers.get(name) === server) this.#servers.delete(name);
      throw error;
    }
    return server;
  }

  /** The open port; undefined if it is closed, or while waiting for it. */
  findPort(name: string): number | undefined {
    return this.#servers.get(name)?.port;
  }

  /** Connections of all ports that were closed before their requests were answered. */
  get drops(): DropCounts {
    return sumDrops([this.#ended, ...[...this.#servers.values()].map(({ drops }) => drops)]);
  }

  /** Those of one open port. */
  countDrops(name: string): DropCounts {
    return this.#servers.get(name)?.drops ?? NO_DROPS;
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
