/**
 * The cluster's names for the handler chain: each derived from the objects when somebody asks.
 *
 * This is the second way to every answer that the table holds, and the only one to those that no table can: pods, and the
 * forms of names that have no end.
 */
import { isWithin, splitLabels } from '../wire/name.ts';
import type { NameKey } from '../wire/types.ts';
import { COMPLETE, type NameSource, type ZoneNode } from '../zone/node.ts';
import type { Zone } from '../zone/zone.ts';
import { DerivedServices } from './derived-services.ts';
import { METRICS_ID } from './metrics-ids.ts';
import type { ClusterModel } from './model.ts';
import { podNamespaceNode, podNode } from './pod-names.ts';

export class KubernetesNames implements NameSource {
  readonly hasCuts = false;
  readonly hasWildcards = false;
  readonly #model: ClusterModel;
  readonly #services: DerivedServices;

  constructor(model: ClusterModel) {
    this.#model = model;
    this.#services = new DerivedServices(model);
  }

  /** The zone that a name belongs to. */
  zoneOf(name: NameKey): Zone | undefined {
    return this.#model.zones.find(({ apex }) => isWithin(name, apex));
  }

  /** Whether we are the authority for every name of this zone, or for those alone that we hold. */
  ownsAll(zone: Zone): boolean {
    return zone.apex === this.#model.options.domain || this.#model.options.dialect.ownsReverseZones;
  }

  /** Whether a name is ours, and nobody else's. */
  owns(name: NameKey): boolean {
    const zone = this.zoneOf(name);
    return zone !== undefined && !this.mayBelongToOthers(zone, name);
  }

  /** Whether somebody else may know of a name: one of the reverse tree that no address of ours has. */
  mayBelongToOthers(zone: Zone, name: NameKey): boolean {
    return zone.apex !== this.#model.options.domain && this.findStanding(name) === undefined;
  }

  find(name: NameKey): ZoneNode | undefined {
    return this.findStanding(name) ?? this.#findMade(name);
  }

  /** Names as the table holds them, and nothing that is made when somebody asks. */
  findStanding(name: NameKey): ZoneNode | undefined {
    const labels = this.#labelsBelow(name);
    const own = this.#model.ownNodes.get(name);
    if (own !== undefined || labels === undefined) return own ?? this.#findReverse(name);
    const namespace = labels.at(-2);
    if (namespace === undefined) return undefined;
    if (labels.at(-1) === 'pod')
      return labels.length === 2 ? podNamespaceNode(this.#model, namespace, name) : undefined;
    if (labels.at(-1) !== 'svc') return undefined;
    if (labels.length === 2) return this.#findNamespace(namespace, name);
    return this.#services.find(namespace, labels.at(-3) ?? '')?.nodeOf.get(name);
  }

  /** Whether a service would lead a client to somebody: to an endpoint, or to a name elsewhere. */
  isServed(namespace: string, service: string): boolean {
    const view = this.#services.find(namespace, service)?.view;
    if (view === undefined) return false;
    return view.service.address.kind === 'externalName' || view.endpoints.length > 0;
  }

  #labelsBelow(name: NameKey): readonly string[] | undefined {
    const { domain } = this.#model.options;
    return isWithin(name, domain) ? splitLabels(name).slice(0, -splitLabels(domain).length) : undefined;
  }

  #findNamespace(namespace: string, name: NameKey): ZoneNode | undefined {
    const unit = this.#model.units.findNamespace(namespace);
    if (!this.#model.namespaceExists(unit)) return undefined;
    return this.#model.options.dialect.namespaceNode(name, namespace, this.#model);
  }

  #findReverse(name: NameKey): ZoneNode | undefined {
    return this.zoneOf(name) && this.#model.reverse.find(name);
  }

  #findMade(name: NameKey): ZoneNode | undefined {
    const labels = this.#labelsBelow(name);
    if (labels === undefined) return this.#findAboveAddresses(name);
    const { dialect } = this.#model.options;
    const top = labels.at(-1);
    if (top === 'pod') return podNode(this.#model, name, labels.slice(0, -1));
    // In the tree of kube-dns services alone lie below the domain: pods are not in it.
    if (dialect.hasWildcards && labels.includes('*') && (top === 'svc' || top === '*'))
      return dialect.wildcardName(name, labels.slice(0, -1), this.#model);
    if (top !== 'svc') return undefined;
    if (labels.length < 4) return undefined;
    const service = this.#services.find(labels.at(-2) ?? '', labels.at(-3) ?? '');
    return service && dialect.nameBelowService(service.view, name, labels.slice(0, -3), service.nodeOf);
  }

  /** Names of the reverse tree above addresses: they have names below them, so they exist (RFC 8020). */
  #findAboveAddresses(name: NameKey): ZoneNode | undefined {
    if (this.zoneOf(name) === undefined || !this.#model.reverse.hasBelow(name)) return undefined;
    return { name, sets: [], alias: undefined, below: COMPLETE, metricsId: METRICS_ID.reverse };
  }
}
