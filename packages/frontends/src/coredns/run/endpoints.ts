/**
 * The HTTP endpoints of a Corefile: health, readiness and metrics. Each address has one server, which all blocks share. It stays open
 * across changes of the Corefile that keep the address.
 */
import { readFileSync } from 'node:fs';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { METRICS_TEXT } from '@portolan/kernel/base/metrics/text-format.ts';
import { findMeaning } from '@portolan/kernel/base/system-errors.ts';
import type { TlsOptions } from '@portolan/kernel/listen/secure/tls-identity.ts';
import { TlsServer, type TlsServerOptions } from '@portolan/kernel/listen/secure/tls-server.ts';
import { ListenerCertificates } from '@portolan/server/listener-certificates.ts';
import { FirstReadiness } from '@portolan/server/observe/first-readiness.ts';
import type { HttpHost } from '@portolan/server/observe/http-host.ts';
import { type HttpReply, type HttpRoute, PLAIN_TEXT } from '@portolan/server/observe/http-route.ts';
import { type HttpServer, HttpServerError } from '@portolan/server/observe/http-server.ts';
import { profileRoutes } from '@portolan/server/observe/profiles/profile-routes.ts';
import { openSharedPort } from '@portolan/server/observe/shared-port.ts';
import type { EndpointPlan } from '@portolan/server/plan/server-plan.ts';

export interface EndpointsDependencies {
  /** Whether to share ports with another process, or to wait for them, instead of failing. */
  readonly takeover: boolean;
  /** Where the ports are opened, under their addresses. */
  readonly http: HttpHost;
  /** All metrics in Prometheus text format. */
  readonly metricsText: () => string;
  /** What is wrong although the server is well and ready, for these requests: lines, or nothing. */
  readonly notes: Readonly<Record<'health' | 'ready', () => string>>;
  /** The plugins that are not ready. @param wasReady whether all were before: only those that may lose readiness */
  readonly notReady: (wasReady: boolean) => readonly string[];
  /** Whether the server answers queries. */
  readonly isServing: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** An address cannot be opened. The message is CoreDNS's: `listen tcp 127.0.0.1:8080: bind: address already in use`. */
export class EndpointError extends Error {
  override readonly name = 'EndpointError';
}

function bindError(address: string, { code }: HttpServerError): EndpointError {
  return new EndpointError(`listen tcp ${address}: bind: ${findMeaning(code) ?? code ?? 'failed'}`);
}

interface HttpEndpoint {
  readonly routes: Map<string, HttpRoute>;
  kinds: ReadonlySet<EndpointPlan['kind']>;
}

export class Endpoints {
  readonly #dependencies: EndpointsDependencies;
  readonly #endpoints = new Map<string, HttpEndpoint>();
  readonly #profiles: ReadonlyMap<string, HttpRoute>;
  readonly #certificates: ListenerCertificates<HttpServer>;
  readonly #firstReadiness: FirstReadiness;
  #wasReady = false;
  #lastTold = '';

  constructor(dependencies: EndpointsDependencies) {
    this.#dependencies = dependencies;
    this.#profiles = profileRoutes(dependencies);
    const { isServing, notReady, clock } = dependencies;
    this.#firstReadiness = new FirstReadiness(() => isServing() && notReady(false).length === 0, clock);
    this.#certificates = new ListenerCertificates(dependencies.clock, dependencies.log);
  }

  /** Listens on all addresses of a plan in addition to the open ones. @throws EndpointError, with nothing changed */
  async add(plans: readonly EndpointPlan[]): Promise<void> {
    const opened: string[] = [];
    try {
      for (const [address, kinds] of kindsByAddress(plans)) {
        if (this.#endpoints.has(address)) {
          this.#certificates.change(address, await readTlsOptions(address, plans));
          continue;
        }
        await this.#open(address, kinds, plans);
        opened.push(address);
      }
    } catch (error) {
      await this.#close(opened);
      throw error instanceof HttpServerError || error instanceof EndpointError
        ? error
        : new EndpointError(describeError(error));
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

  async #open(address: string, kinds: HttpEndpoint['kinds'], plans: readonly EndpointPlan[]): Promise<void> {
    const { takeover } = this.#dependencies;
    const routes = new Map<string, HttpRoute>();
    const { host, port } = splitHostPort(address);
    const takesTime = kinds.has('profile');
    const sharing = { waitForPort: takeover, openPort: takeover ? openSharedPort : undefined };
    const makeTlsServer = (tls: TlsServerOptions) => new TlsServer(tls);
    const options = {
      address: host,
      port,
      ...sharing,
      flag: address,
      answersAsGo: true,
      takesTime,
      makeTlsServer,
    };
    const endpoint: HttpEndpoint = { routes, kinds };
    this.#route(endpoint, kinds, plans);
    try {
      await this.#certificates.open(address, await readTlsOptions(address, plans), (encryption) =>
        this.#dependencies.http.open({ name: address, options: { ...options, encryption }, routes }),
      );
    } catch (error) {
      throw error instanceof HttpServerError ? bindError(address, error) : error;
    }
    this.#endpoints.set(address, endpoint);
  }

  #route(endpoint: HttpEndpoint, kinds: HttpEndpoint['kinds'], plans: readonly EndpointPlan[]): void {
    const goesBack = plans.some((plan) => plan.kind === 'ready' && plan.goesBack);
    const { metricsText, notes } = this.#dependencies;
    endpoint.kinds = kinds;
    endpoint.routes.clear();
    if (kinds.has('health')) endpoint.routes.set(PATHS.health, () => text(200, `OK${notes.health()}`));
    if (kinds.has('profile')) for (const [path, route] of this.#profiles) endpoint.routes.set(path, route);
    if (kinds.has('ready')) endpoint.routes.set(PATHS.ready, () => this.#tellReadiness(goesBack));
    if (kinds.has('metrics'))
      endpoint.routes.set(PATHS.metrics, () => ({ status: 200, type: METRICS_TEXT, body: metricsText() }));
  }

  async #tellReadiness(goesBack: boolean): Promise<HttpReply> {
    await this.#firstReadiness.wait();
    const waiting = this.#dependencies.notReady(this.#wasReady && !goesBack);
    const names = waiting.join(',');
    if (names === '') this.#wasReady = true;
    else if (names !== this.#lastTold)
      this.#dependencies.log.info(`plugin/ready: Plugins not ready: "${names}"`);
    this.#lastTold = names;
    return names === '' ? text(200, `OK${this.#dependencies.notes.ready()}`) : text(503, names);
  }

  async #close(addresses: readonly string[]): Promise<void> {
    for (const address of addresses) {
      this.#endpoints.delete(address);
      this.#certificates.forget(address);
    }
    await this.#dependencies.http.close(addresses);
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

/** The certificate of an address; undefined: it has none. @throws Error with the reason why the files cannot be used */
async function readTlsOptions(
  address: string,
  plans: readonly EndpointPlan[],
): Promise<TlsOptions | undefined> {
  const path = plans.find(
    (plan) => plan.address === address && plan.webConfiguration !== undefined,
  )?.webConfiguration;
  if (path === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException; // Errors of the file system are of this type.
    throw new EndpointError(code === 'ENOENT' ? `TLS config file does not exist: ${path}` : message);
  }
  // Few have such a file, and it needs the parser of YAML.
  const { readWebConfiguration } = await import('@portolan/plugins/prometheus/web-configuration.ts');
  return readWebConfiguration(text, path);
}

/** @param address with a colon before its port, as the Corefile reader ensures */
function splitHostPort(address: string): { readonly host: string | undefined; readonly port: number } {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  return { host: host === '' ? undefined : host, port: Number(address.slice(colon + 1)) };
}
