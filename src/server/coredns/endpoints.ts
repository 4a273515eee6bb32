/**
 * The HTTP endpoints of a Corefile: health, readiness and metrics. Each address has one server, which all blocks share. It stays open
 * across changes of the Corefile that keep the address.
 */
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { EndpointPlan } from '../../config/server/server-plan.ts';
import { METRICS_TEXT } from '../../observe/health.ts';
import { type HttpReply, type HttpRoute, PLAIN_TEXT } from '../../observe/http-route.ts';
import { HttpServer, HttpServerError } from '../../observe/http-server.ts';
import { profileRoutes } from '../../observe/profiles/profile-routes.ts';
import { openSharedPort } from '../../observe/shared-port.ts';

export interface EndpointsDependencies {
  /** Whether to share ports with another process, or to wait for them, instead of failing. */
  readonly takeover: boolean;
  /** All metrics in Prometheus text format. */
  readonly metricsText: () => Promise<string>;
  /** Why a changed Corefile is not applied, for readiness requests; empty: no trouble. */
  readonly trouble: () => string;
  /** The plugins that are not ready. */
  readonly notReady: () => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

/** An address cannot be bound. The message is CoreDNS's: `listen tcp 127.0.0.1:8080: bind: address already in use`. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError';

  constructor(address: string, code: string | undefined) {
    super(`listen tcp ${address}: bind: ${REASONS.get(code ?? '') ?? code ?? 'failed'}`);
  }
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'address already in use'],
  ['EADDRNOTAVAIL', 'cannot assign requested address'],
  ['EACCES', 'permission denied'],
]);

interface Endpoint {
  readonly server: HttpServer;
  readonly routes: Map<string, HttpRoute>;
  kinds: ReadonlySet<EndpointPlan['kind']>;
}

export class Endpoints {
  readonly #dependencies: EndpointsDependencies;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #profiles: ReadonlyMap<string, HttpRoute>;
  #wasReady = false;
  #lastTold = '';

  constructor(dependencies: EndpointsDependencies) {
    this.#dependencies = dependencies;
    this.#profiles = profileRoutes(dependencies);
  }

  /** Listens on all addresses of a plan in addition to the open ones. @throws EndpointError, with nothing changed */
  async add(plans: readonly EndpointPlan[]): Promise<void> {
    const opened: string[] = [];
    try {
      for (const [address, kinds] of kindsByAddress(plans)) {
        if (this.#endpoints.has(address)) continue;
        await this.#open(address, kinds, plans);
        opened.push(address);
      }
    } catch (error) {
      await this.#close(opened);
      throw error;
    }
  }

  /** Serves this plan on the open addresses. */
  show(plans: readonly EndpointPlan[]): void {
    for (const [address, kinds] of kindsByAddress(plans)) {
      const endpoint = this.#endpoints.get(address);
      if (endpoint !== undefined) this.#route(endpoint, kinds, plans);
    }
  }

  /** Serves only this plan and closes other addresses. */
  async keepOnly(plans: readonly EndpointPlan[]): Promise<void> {
    const all = kindsByAddress(plans);
    this.show(plans);
    await this.#close([...this.#endpoints.keys()].filter((address) => !all.has(address)));
  }

  /** Reports that the server is no longer ready: readiness connections are refused. */
  async leaveReadiness(): Promise<void> {
    const only = [...this.#endpoints].filter(([, { kinds }]) => kinds.size === 1 && kinds.has('ready'));
    for (const { routes } of this.#endpoints.values()) routes.delete(PATHS.ready);
    await this.#close(only.map(([address]) => address));
  }

  async stop(): Promise<void> {
    await this.#close([...this.#endpoints.keys()]);
  }

  async #open(address: string, kinds: Endpoint['kinds'], plans: readonly EndpointPlan[]): Promise<void> {
    const { takeover, clock, log } = this.#dependencies;
    const routes = new Map<string, HttpRoute>();
    const { host, port } = splitHostPort(address);
    const takesTime = kinds.has('profile');
    const sharing = { waitForPort: takeover, openPort: takeover ? openSharedPort : undefined };
    const options = { address: host, port, ...sharing, flag: address, answersAsGo: true, takesTime };
    const server = new HttpServer(options, routes, clock, log);
    const endpoint: Endpoint = { server, routes, kinds };
    this.#route(endpoint, kinds, plans);
    try {
      await server.start();
    } catch (error) {
      throw error instanceof HttpServerError ? new EndpointError(address, error.code) : error;
    }
    this.#endpoints.set(address, endpoint);
  }

  #route(endpoint: Endpoint, kinds: Endpoint['kinds'], plans: readonly EndpointPlan[]): void {
    const goesBack = plans.some((plan) => plan.kind === 'ready' && plan.goesBack);
    const { metricsText } = this.#dependencies;
    endpoint.kinds = kinds;
    endpoint.routes.clear();
    if (kinds.has('health')) endpoint.routes.set(PATHS.health, () => text(200, 'OK'));
    if (kinds.has('profile')) for (const [path, route] of this.#profiles) endpoint.routes.set(path, route);
    if (kinds.has('ready')) endpoint.routes.set(PATHS.ready, () => this.#tellReadiness(goesBack));
    if (kinds.has('metrics'))
      endpoint.routes.set(PATHS.metrics, async () => ({
        status: 200,
        type: METRICS_TEXT,
        body: await metricsText(),
      }));
  }

  #tellReadiness(goesBack: boolean): HttpReply {
    const waiting = this.#wasReady && !goesBack ? [] : this.#dependencies.notReady();
    const names = waiting.join(',');
    if (names === '') this.#wasReady = true;
    else if (names !== this.#lastTold)
      this.#dependencies.log.info(`plugin/ready: Plugins not ready: "${names}"`);
    this.#lastTold = names;
    return names === '' ? text(200, `OK${this.#dependencies.trouble()}`) : text(503, names);
  }

  async #close(addresses: readonly string[]): Promise<void> {
    const endpoints = addresses.flatMap((address) => this.#endpoints.get(address) ?? []);
    for (const address of addresses) this.#endpoints.delete(address);
    await Promise.all(endpoints.map(({ server }) => server.stop()));
  }
}

const PATHS = { health: '/health', ready: '/ready', metrics: '/metrics' } as const;

function text(status: number, body: string): HttpReply {
  return { status, type: PLAIN_TEXT, body };
}

function kindsByAddress(
  plans: readonly EndpointPlan[],
): ReadonlyMap<string, ReadonlySet<EndpointPlan['kind']>> {
  const kinds = new Map<string, Set<EndpointPlan['kind']>>();
  for (const { address, kind } of plans) kinds.set(address, (kinds.get(address) ?? new Set()).add(kind));
  return kinds;
}

/** @param address with a colon before its port, as the Corefile reader ensures */
function splitHostPort(address: string): { readonly host: string | undefined; readonly port: number } {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  return { host: host === '' ? undefined : host, port: Number(address.slice(colon + 1)) };
}
