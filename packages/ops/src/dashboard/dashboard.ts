/**
 * A dashboard: its collector, its port and its token. The same for all servers of a cluster and for one that shows itself.
 */

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { formatHost } from '@portolan/kernel/base/socket-address.ts';
import type { CarryOut } from '@portolan/server/observe/control/control-socket.ts';
import type { HttpHost, HttpPort } from '@portolan/server/observe/http-host.ts';
import type { HttpReply } from '@portolan/server/observe/http-route.ts';
import { Collector } from './collector.ts';
import { createDashboardPort, DASHBOARD_PORT, type DashboardPlace } from './dashboard-server.ts';
import type { FindReplicas } from './replica.ts';

const TOKEN_OCTETS = 24;

export interface DashboardSettings extends DashboardPlace {
  /** The folder of the files of the page. */
  readonly folder: string;
  readonly find: FindReplicas;
  readonly http: HttpHost;
  readonly clock: Clock;
}

export class Dashboard {
  readonly #place: DashboardPlace;
  readonly #collector: Collector;
  readonly #http: HttpHost;
  readonly #port: HttpPort;
  readonly #token = randomBytes(TOKEN_OCTETS).toString('base64url');

  /** @throws Error if the build lacks the files of the page */
  constructor({ folder, find, http, clock, ...place }: DashboardSettings) {
    this.#place = place;
    this.#http = http;
    this.#collector = new Collector(find, clock);
    const options = { ...place, token: this.#token, files: readPageFiles(folder) };
    this.#port = createDashboardPort(options, this.#collector, clock);
  }

  /** @throws HttpServerError */
  async start(): Promise<void> {
    await this.#http.open(this.#port);
  }

  /** What to open in a browser. Behind the # the token is sent to no server. */
  get url(): string {
    const { address, port } = this.#place;
    return `http://${formatHost(address)}:${this.#http.findPort(DASHBOARD_PORT) ?? port}/#token=${this.#token}`;
  }

  async stop(): Promise<void> {
    this.#collector.stop();
    await this.#http.close([DASHBOARD_PORT]);
  }
}

const FILES = [
  { path: '/', file: 'index.html', type: 'text/html; charset=utf-8' },
  { path: '/page.js', file: 'page.js', type: 'text/javascript; charset=utf-8' },
  { path: '/page.css', file: 'page.css', type: 'text/css; charset=utf-8' },
  { path: '/LICENSES.txt', file: 'LICENSES.txt', type: 'text/plain; charset=utf-8' },
];

/** The files of the page by path, as `scripts/build.mjs` makes them from `dashboard/`. @throws Error if the build lacks them */
function readPageFiles(folder: string): ReadonlyMap<string, HttpReply> {
  return new Map(
    FILES.map(({ path, file, type }) => [
      path,
      { status: 200, type, body: readFileSync(join(folder, file)) },
    ]),
  );
}

export interface OwnDashboardSettings extends Omit<DashboardSettings, 'find' | 'flag'> {
  readonly carryOut: CarryOut;
}

/**
 * The dashboard that a server shows of itself, in its own process: it asks itself what others ask over the control socket.
 *
 * @throws Error if the build lacks the files of the page
 */
export function createOwnDashboard({ carryOut, ...settings }: OwnDashboardSettings): Dashboard {
  const replica = { name: hostname(), ask: carryOut };
  return new Dashboard({ ...settings, flag: '--dashboard', find: async () => [replica] });
}
