/**
 * Keeps the table equal to the model: every change of an object ends in the nodes that it touches, derived anew.
 */
import type { Log } from '../ground/log.ts';
import type { ZoneId } from '../table/types.ts';
import type { TableWriter } from '../table/writer.ts';
import { reverseName } from '../wire/address.ts';
import { isWithin } from '../wire/name.ts';
import type { NameKey } from '../wire/types.ts';
import type { ZoneNode } from '../zone/node.ts';
import { NOTHING, Publisher, type Standing } from '../zone/publish.ts';
import { termsOf, type Zone } from '../zone/zone.ts';
import type { ClusterModel } from './model.ts';
import { podNamespaceNode } from './pod-names.ts';
import type { NamespaceUnit, ServiceUnit } from './service-units.ts';
import { WaitingList } from './waiting-list.ts';

interface PublishedZone {
  readonly apex: NameKey;
  readonly id: ZoneId;
  standing: Standing;
}

export interface PublicationTerms {
  /** Default: that of the dialect. */
  readonly recursionAvailable?: boolean;
  /** Types that are left out. */
  readonly hiddenTypes?: ReadonlySet<number>;
}

export class Publication {
  readonly #model: ClusterModel;
  readonly #table: TableWriter;
  readonly #publisher: Publisher;
  readonly #recursionAvailable: boolean;
  readonly #log: Log;
  readonly #zones: readonly PublishedZone[];
  readonly #services = new WaitingList<ServiceUnit>();
  readonly #namespaces = new WaitingList<NamespaceUnit>();
  readonly #addresses = new WaitingList<string>();

  constructor(model: ClusterModel, table: TableWriter, log: Log, terms: PublicationTerms = {}) {
    this.#model = model;
    this.#table = table;
    this.#recursionAvailable = terms.recursionAvailable ?? model.options.dialect.recursionAvailable;
    this.#publisher = new Publisher(table, log, terms.hiddenTypes);
    this.#log = log;
    this.#zones = model.zones.map((zone) => ({
      apex: zone.apex,
      id: table.defineZone(this.#terms(zone, false)),
      standing: NOTHING,
    }));
    this.#publishOwnNodes();
  }

  /** Services that wait for their names to be published. */
  get waiting(): number {
    return this.#services.size;
  }

  serviceChanged(unit: ServiceUnit): void {
    this.#services.add(unit);
  }

  namespaceChanged(unit: NamespaceUnit): void {
    this.#namespaces.add(unit);
  }

  /** Publishes one thing that changed. @returns false if there was nothing left */
  step(): boolean {
    const namespace = this.#namespaces.take();
    if (namespace !== undefined) {
      this.#attempt(namespace.name, () => this.#publishNamespace(namespace));
      this.#model.units.dropNamespace(namespace);
      return true;
    }
    const service = this.#services.take();
    if (service !== undefined) {
      this.#attempt(`${service.namespace.name}/${service.name}`, () => this.#publishService(service));
      this.#model.units.drop(service);
      return true;
    }
    const address = this.#addresses.take();
    if (address !== undefined) this.#attempt(address, () => this.#publishAddress(address));
    return address !== undefined;
  }

  /** Whatever is wrong with one object, all others are served. */
  #attempt(what: string, publish: () => void): void {
    try {
      publish();
    } catch (error) {
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#log.error('names not published', { of: what, reason });
    }
  }

  /** Publishes the zones themselves, after the model has renewed them. */
  publishZones(known: boolean): void {
    this.#attempt('the zones', () => {
      for (const [index, zone] of this.#model.zones.entries()) {
        const published = this.#zones[index];
        if (published !== undefined) this.#table.changeZone(published.id, this.#terms(zone, known));
      }
      this.#publishOwnNodes();
    });
    this.#table.collect();
  }

  #terms(zone: Zone, known: boolean) {
    const { dialect, domain } = this.#model.options;
    const recursionAvailable = this.#recursionAvailable;
    const askWildcards = dialect.hasWildcards && zone.apex === domain;
    return termsOf(zone, { known, recursionAvailable, askWildcards });
  }

  #publishOwnNodes(): void {
    const nodes = [...this.#model.ownNodes.values()];
    for (const zone of this.#zones) {
      const own = nodes.filter(({ name }) => this.#zoneOf(name) === zone);
      zone.standing = this.#publisher.replace(zone.standing, zone.id, own);
    }
  }

  #zoneOf(name: NameKey): PublishedZone | undefined {
    return this.#zones.find(({ apex }) => isWithin(name, apex));
  }

  #publishService(unit: ServiceUnit): void {
    const { namespace } = unit;
    const view = this.#model.viewOf(unit);
    const { nodes, reverse } = this.#model.derive(view);
    const wasLive = unit.standing.length > 0;
    if (nodes.length > 0 && !wasLive) {
      namespace.live += 1;
      if (namespace.standing.length === 0) this.#publishNamespace(namespace);
    }
    unit.standing = this.#publish(unit.standing, nodes);
    if (nodes.length === 0 && wasLive) namespace.live -= 1;
    const wasExternal = namespace.externalNames.delete(unit.name);
    const isExternal = nodes.length > 0 && view?.service.address.kind === 'externalName';
    if (isExternal) namespace.externalNames.add(unit.name);
    if (wasExternal || isExternal || namespace.live === 0) this.#publishNamespace(namespace);
    unit.reverse = this.#model.reverse.replace(unit.reverse, reverse, (address) =>
      this.#addresses.add(address),
    );
  }

  #publishNamespace(unit: NamespaceUnit): void {
    unit.standing = this.#publish(unit.standing, this.#namespaceNodes(unit));
  }

  #namespaceNodes(unit: NamespaceUnit): readonly ZoneNode[] {
    const { dialect, domain } = this.#model.options;
    const name = this.#model.namespaceName(unit.name);
    if (name === undefined || !this.#model.namespaceExists(unit)) return [];
    const node = dialect.namespaceNode(name, unit.name, this.#model);
    // As long as the name below `svc`.
    const pods = podNamespaceNode(this.#model, unit.name, `${unit.name}.pod.${domain}` as NameKey);
    return pods === undefined ? [node] : [node, pods];
  }

  /** Publishes nodes of the cluster's domain. */
  #publish(standing: Standing, nodes: readonly ZoneNode[]): Standing {
    const [domain] = this.#zones;
    return domain === undefined ? NOTHING : this.#publisher.replace(standing, domain.id, nodes);
  }

  #publishAddress(address: string): void {
    const name = reverseName(address);
    const zone = this.#zoneOf(name);
    if (zone === undefined) return;
    const node = this.#model.reverse.node(address);
    if (node === undefined) this.#publisher.remove(zone.id, name);
    else this.#publisher.put(zone.id, node);
  }
}
