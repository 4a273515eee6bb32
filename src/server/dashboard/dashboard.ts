/**
 * A dashboard: its collector, its port and its token. The same for all servers of a cluster and for one that shows itself.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { HttpServer } from '../../observe/http-server.ts';
import { Collector } from './collector.ts';
import { createDashboardServer, type DashboardPlace, hostOf } from './dashboard-server.ts';
import { readPageFiles } from './page-files.ts';
import type { FindReplicas } from './replica.ts';

const TOKEN_OCTETS = 24;

export interface DashboardSettings extends DashboardPlace {
  /** The folder of the files of the page. */
  readonly folder: string;
  readonly find: FindReplicas;
  readonly clock: Clock;
  readonly log: Log;
}

export class Dashboard {
  readonly #place: DashboardPlace;
  readonly #collector: Collector;
  readonly #server: HttpServer;
  readonly #token = randomBytes(TOKEN_OCTETS).toString('base64url');

  /** @throws Error if the build lacks the files of the page */
  constructor({ folder, find, clock, log, ...place }: DashboardSettings) {
    this.#place = place;
    this.#collector = new Collector(find, clock);
    const options = { ...place, token: this.#token, files: readPageFiles(folder) };
    this.#server = createDashboardServer(options, this.#collector, clock, log);
  }

  /** @throws HttpServerError */
  async start(): Promise<void> {
    await this.#server.start();
  }

  /** What to open in a browser. Behind the # the token is sent to no server. */
  get url(): string {
    const { address, port } = this.#place;
    return `http://${hostOf(address)}:${this.#server.port ?? port}/#token=${this.#token}`;
  }

  async stop(): Promise<void> {
    this.#collector.stop();
    await this.#server.stop();
  }
}
