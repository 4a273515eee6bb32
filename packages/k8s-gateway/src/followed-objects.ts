/**
 * The kinds that a `k8s_gateway` follows, and what they say about a name.
 */
import { type Context, WATCHES, type Watch } from '@portolan/plugin';
import { NameIndex } from './name-index.ts';
import type { GatewayObject, KindOf, NamedObject, NamedObjects, ReadyEndpoints } from './objects.ts';
import * as kinds from './objects.ts';
import type { GatewayOptions, ResourceName } from './options.ts';

export interface Found {
  readonly addresses: readonly string[];
  readonly hosts: readonly string[];
  readonly texts: readonly string[];
}

export class FollowedObjects {
  readonly #options: GatewayOptions;
  readonly #context: Pick<Context, 'use' | 'log'>;
  readonly #changed: () => void;
  readonly #watches: Watch<unknown>[] = [];
  readonly #indexes = new Map<ResourceName, NameIndex>();
  #gateways: Watch<GatewayObject> | undefined;
  #slices: Watch<ReadyEndpoints> | undefined;
  #followsSlices = false;
  /** Addresses of services, rebuilt after a change. */
  #endpoints: ReadonlyMap<string, readonly string[]> | undefined;

  /** @param changed called after each change */
  constructor(options: GatewayOptions, context: Pick<Context, 'use' | 'log'>, changed: () => void) {
    this.#options = options;
    this.#context = context;
    this.#changed = changed;
  }

  /** Whether each kind is listed, or known to be absent. */
  get isListed(): boolean {
    return this.#watches.length > 0 && this.#watches.every(({ state }) => state !== 'listing');
  }

  /** @throws Error that says why there is no cluster */
  async start(): Promise<void> {
    for (const resource of this.#options.resources) {
      const watches: Watch<NamedObjects>[] = [];
      const index = new NameIndex(watches);
      this.#indexes.set(resource, index);
      for (const { labels, kind } of this.#listKinds(resource)) {
        const changed = () => {
          index.changed();
          if (resource === 'Service') this.#followEndpoints();
          this.#changed();
        };
        watches.push(await this.#watch(kind, changed, labels));
      }
    }
    if (this.#options.resources.some((resource) => resource.endsWith('Route')))
      this.#gateways = await this.#watch(kinds.gateways, this.#changed);
  }

  /**
   * What the first resource that knows the name says.
   *
   * @param names the same name, whole and below its zone: lower case, without a dot at the end
   */
  find(names: readonly string[]): Found | undefined {
    for (const index of this.#indexes.values()) {
      const found = this.#findTargets(index.find(names));
      if (found.addresses.length + found.hosts.length + found.texts.length > 0) return found;
    }
    return undefined;
  }

  hasBelow(names: readonly string[]): boolean {
    return [...this.#indexes.values()].some((index) => index.hasBelow(names));
  }

  #findTargets(objects: readonly NamedObject[]): Found {
    const targets = objects.flatMap((object) => [
      object,
      ...(object.gateways ?? []).flatMap((name) => this.#findGateway(name) ?? []),
    ]);
    const ready = objects.flatMap(({ endpointService }) =>
      endpointService === undefined ? [] : (this.#findEndpoints(endpointService) ?? []),
    );
    return {
      addresses: [...new Set([...targets.flatMap(({ addresses }) => addresses), ...ready])],
      hosts: [...new Set(targets.flatMap(({ hosts }) => hosts))],
      texts: [...new Set(objects.flatMap(({ texts = [] }) => texts))],
    };
  }

  #findGateway(name: string): GatewayObject | undefined {
    const gateway = this.#gateways?.objects.get(name);
    const { gatewayClasses } = this.#options;
    const isWanted =
      gateway !== undefined && (gatewayClasses.length === 0 || gatewayClasses.includes(gateway.className));
    return isWanted ? gateway : undefined;
  }

  #findEndpoints(service: string): readonly string[] | undefined {
    if (this.#endpoints === undefined) {
      const endpoints = new Map<string, readonly string[]>();
      for (const slice of this.#slices?.objects.values() ?? [])
        endpoints.set(slice.service, [...(endpoints.get(slice.service) ?? []), ...slice.addresses]);
      this.#endpoints = endpoints;
    }
    return this.#endpoints.get(service);
  }

  /** Endpoints are many, and few services ask for their addresses: follows them from the first that does. */
  #followEndpoints(): void {
    if (this.#followsSlices) return;
    const services = this.#indexes.get('Service')?.all() ?? [];
    this.#followsSlices = [...services].some(({ endpointService }) => endpointService !== undefined);
    if (!this.#followsSlices) return;
    const changed = () => {
      this.#endpoints = undefined;
      this.#changed();
    };
    this.#watch(kinds.endpointSlices, changed).then(
      (slices) => {
        this.#slices = slices;
      },
      // The plugin has stopped: its connection was open before.
      (error: unknown) =>
        this.#context.log.debug(`plugin/k8s_gateway: endpoints not followed: ${String(error)}`),
    );
  }

  async #watch<Value>(
    kind: KindOf<Value>,
    changed: () => void,
    labels?: string | undefined,
  ): Promise<Watch<Value>> {
    const { kubeconfig } = this.#options;
    const watch = await this.#context.use(WATCHES).follow({ ...kind, labels, kubeconfig }, changed);
    this.#watches.push(watch);
    return watch;
  }

  #listKinds(
    resource: ResourceName,
  ): readonly { readonly kind: KindOf<NamedObjects>; readonly labels?: string }[] {
    const { ingressClasses, serviceSelectors, nodeAddressType } = this.#options;
    switch (resource) {
      case 'HTTPRoute':
        return [{ kind: kinds.httpRoutes }];
      case 'TLSRoute':
        return [{ kind: kinds.tlsRoutes }];
      case 'GRPCRoute':
        return [{ kind: kinds.grpcRoutes }];
      case 'VirtualServer':
        return [{ kind: kinds.virtualServers }];
      case 'Ingress':
        return [{ kind: kinds.ingresses(ingressClasses) }];
      case 'Service':
        return serviceSelectors.length === 0
          ? [{ kind: kinds.services }]
          : serviceSelectors.map((labels) => ({ kind: kinds.services, labels }));
      case 'DNSEndpoint':
        return [{ kind: kinds.dnsEndpoints }];
      case 'Node':
        return [{ kind: kinds.nodes(nodeAddressType) }];
    }
  }
}
