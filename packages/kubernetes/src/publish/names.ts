/**
 * The cluster's names for the handler chain, derived from the objects for each question.
 *
 * It gives the same answers as the table, and also those that the table cannot hold: pods and other infinite sets of
 * names.
 */
import { isWithin, labelsBelow, toParent } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { COMPLETE, type NameSource, type ZoneNode } from '@portolan/kernel/zone/node.ts';
import type { Zone } from '@portolan/kernel/zone/zone.ts';
import { zonalNode } from '../dialects/coredns/zonal-names.ts';
import type { ClusterDirectory, ServiceView } from '../dialects/dialect.ts';
import { OUTCOME } from '../names/outcomes.ts';
import type { NamedService } from './derived-services.ts';
import type { HasModelOptions } from './model-options.ts';

/** What names are derived from. */
export interface NamedCluster extends ClusterDirectory, HasModelOptions {
  /** The cluster's domain first. */
  readonly zones: readonly Zone[];
  /** The nodes of the zones themselves, for each zone its apex first. */
  readonly ownNodes: ReadonlyMap<NameKey, ZoneNode>;
  readonly reverse: {
    /** The node of a name in the reverse tree, if its address has names. */
    find(name: NameKey): ZoneNode | undefined;
    /** Whether a name of the reverse tree exists because of addresses below it. */
    hasBelow(name: NameKey): boolean;
  };
  /** A service that has names. */
  service(namespace: string, name: string): NamedService | undefined;
}

export class KubernetesNames implements NameSource {
  readonly #model: NamedCluster;

  constructor(model: NamedCluster) {
    this.#model = model;
  }

  /** The apex of the zone with the services. */
  get domain(): NameKey {
    return this.#model.options.domain;
  }

  /** The apexes of all zones. */
  get apexes(): readonly NameKey[] {
    return this.#model.zones.map(({ apex }) => apex);
  }

  /** The zone that a name belongs to. */
  findZone(name: NameKey): Zone | undefined {
    return this.#model.zones.find(({ apex }) => isWithin(name, apex));
  }

  /** Whether we are authoritative for every name of this zone, or only for those that we hold. */
  ownsAll(zone: Zone): boolean {
    return zone.apex === this.#model.options.domain || this.#model.options.dialect.ownsReverseZones;
  }

  /** Whether only this server answers the name: it must not go to an upstream. */
  owns(name: NameKey): boolean {
    const zone = this.findZone(name);
    return zone !== undefined && !this.mayBelongToOthers(zone, name);
  }

  /** Whether an upstream may know the name: a name of the reverse tree that is neither that of one of our addresses nor below it. */
  mayBelongToOthers(zone: Zone, name: NameKey): boolean {
    if (zone.apex === this.#model.options.domain) return false;
    for (let at: NameKey | undefined = name; at !== undefined && at !== zone.apex; at = toParent(at))
      if (this.findStanding(at) !== undefined) return false;
    return true;
  }

  find(name: NameKey): ZoneNode | undefined {
    return this.findStanding(name) ?? this.#findMade(name);
  }

  /** Finds only names that the table holds, not names that are made when a client asks. */
  findStanding(name: NameKey): ZoneNode | undefined {
    const labels = this.#labelsBelow(name);
    const own = this.#model.ownNodes.get(name);
    if (own !== undefined || labels === undefined) return own ?? this.#findReverse(name);
    const namespace = labels.at(-2);
    if (namespace === undefined) return undefined;
    if (labels.at(-1) === 'pod') {
      const { dialect } = this.#model.options;
      return labels.length === 2 ? dialect.podNamespaceNode(name, namespace, this.#model) : undefined;
    }
    if (labels.at(-1) !== 'svc') return undefined;
    if (labels.length === 2) return this.#findNamespace(namespace, name);
    return this.#findOfService(name, namespace, labels);
  }

  /** The service that a name is at or below, and its namespace; undefined: none. */
  serviceIn(name: NameKey): readonly [service: string, namespace: string] | undefined {
    const labels = this.#labelsBelow(name);
    const [service, namespace, svc] = labels?.slice(-3) ?? [];
    return svc === 'svc' && service !== undefined && namespace !== undefined
      ? [service, namespace]
      : undefined;
  }

  /** @param labels those left of the domain, at least three */
  #findOfService(name: NameKey, namespace: string, labels: readonly string[]): ZoneNode | undefined {
    const service = this.#model.service(namespace, labels.at(-3) ?? '');
    if (service === undefined || service.view.name === name) return service?.findNode(name);
    const { dialect } = this.#model.options;
    const { view, findNode } = service;
    const below = labels.slice(0, -3);
    return (
      findNode(name) ??
      (this.#mayBePort(below) ? dialect.nameBelowService(view, name, below, findNode) : undefined) ??
      this.#findZonal(view, name, below) ??
      this.#findClusterLabel(view, name, below)
    );
  }

  /** In a cluster set, labels without underscores are those of an endpoint and its cluster. */
  #mayBePort(labels: readonly string[]): boolean {
    return this.#model.options.clusterLabels === undefined || labels.some((label) => label.startsWith('_'));
  }

  /** The name of a cluster that has endpoints of a service. @param labels those left of the service */
  #findClusterLabel(view: ServiceView, name: NameKey, labels: readonly string[]): ZoneNode | undefined {
    if (this.#model.options.clusterLabels !== 'exist') return undefined;
    const end = `.${labels.join('.')}`;
    if (!view.endpoints.some(({ hostname }) => hostname?.endsWith(end) === true)) return undefined;
    return { name, sets: [], alias: undefined, below: COMPLETE, outcome: OUTCOME.endpoint };
  }

  /** @param labels those left of the service */
  #findZonal(view: ServiceView, name: NameKey, labels: readonly string[]): ZoneNode | undefined {
    const { zones } = this.#model.options;
    const { namespace, name: service } = view.service;
    return zones && zonalNode(view, name, labels, (zone) => zones.addressesIn(namespace, service, zone));
  }

  /** Whether a service has a target: an endpoint or an external name. */
  isServed(namespace: string, service: string): boolean {
    const view = this.#model.service(namespace, service)?.view;
    if (view === undefined) return false;
    return view.service.address.kind === 'externalName' || view.endpoints.length + view.targets.length > 0;
  }

  #labelsBelow(name: NameKey): readonly string[] | undefined {
    const { domain } = this.#model.options;
    return isWithin(name, domain) ? labelsBelow(name, domain) : undefined;
  }

  #findNamespace(namespace: string, name: NameKey): ZoneNode | undefined {
    if (!this.#model.namespaceExists(namespace)) return undefined;
    return this.#model.options.dialect.namespaceNode(name, namespace, this.#model);
  }

  #findReverse(name: NameKey): ZoneNode | undefined {
    return this.findZone(name) && this.#model.reverse.find(name);
  }

  #findMade(name: NameKey): ZoneNode | undefined {
    const labels = this.#labelsBelow(name);
    if (labels === undefined) return this.#findAboveAddresses(name);
    const { dialect } = this.#model.options;
    const top = labels.at(-1);
    if (top === 'pod') return dialect.podName(name, labels.slice(0, -1), this.#model);
    // The tree of kube-dns has only services below the domain, no pods.
    if (dialect.hasWildcards && labels.includes('*') && (top === 'svc' || top === '*'))
      return dialect.wildcardName(name, labels.slice(0, -1), this.#model);
    return undefined;
  }

  /** Names of the reverse tree above addresses: they have names below them, so they exist (RFC 8020). */
  #findAboveAddresses(name: NameKey): ZoneNode | undefined {
    if (this.findZone(name) === undefined || !this.#model.reverse.hasBelow(name)) return undefined;
    return { name, sets: [], alias: undefined, below: COMPLETE, outcome: OUTCOME.reverse };
  }
}
