/**
 * Keeps the table equal to the model: after a change of an object, derives the nodes that it affects again.
 */
import type { Clock } from '../../base/clock.ts';
import { ItemFence } from '../../base/item-fence.ts';
import type { Log } from '../../base/log.ts';
import type { Steps } from '../../base/steps.ts';
import { WorkQueue } from '../../base/work-queue.ts';
import { DEFAULT_PUBLICATION, type PublicationId, type ZoneId } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { reverseName } from '../../wire/address.ts';
import { isWithin } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import type { ZoneNode } from '../../zone/node.ts';
import { NOTHING, Publisher, type Standing } from '../../zone/publish.ts';
import { settingsOf, type Zone } from '../../zone/zone.ts';
import type { ServiceView } from '../dialects/dialect.ts';
import type { ClusterModel } from './model.ts';
import type { NamespaceUnit, ServiceUnit } from './service-units.ts';

interface PublishedZone {
  readonly apex: NameKey;
  readonly id: ZoneId;
  standing: Standing;
}

export interface PublicationSettings {
  /** Default: the table's first. */
  readonly publication?: PublicationId;
  /** Types that are left out. */
  readonly filteredTypes?: ReadonlySet<number>;
}

/** How many addresses are published in a step. */
const ADDRESSES_PER_STEP = 100;

export class Publication {
  readonly #id: PublicationId;
  readonly #model: ClusterModel;
  readonly #table: TableWriter;
  readonly #publisher: Publisher;
  readonly #fence: ItemFence;
  readonly #zones: readonly PublishedZone[];
  readonly #services = new WorkQueue<ServiceUnit>();
  readonly #namespaces = new WorkQueue<NamespaceUnit>();
  readonly #addresses = new WorkQueue<string>();
  /** Services whose addresses had no names before. */
  readonly #named = new WorkQueue<ServiceUnit>();
  /** The service that is published now, in steps. */
  #current: Steps<void> | undefined;

  constructor(
    model: ClusterModel,
    table: TableWriter,
    { clock, log }: { readonly clock: Clock; readonly log: Log },
    settings: PublicationSettings = {},
  ) {
    this.#id = settings.publication ?? DEFAULT_PUBLICATION;
    this.#model = model;
    this.#table = table;
    this.#publisher = new Publisher(table, log, settings.filteredTypes);
    this.#fence = new ItemFence({
      ...{ source: 'kubernetes', clock, log },
      report: ({ item, problem, error }) =>
        log.error('names not published', {
          of: item,
          reason: error instanceof Error ? (error.stack ?? problem) : problem,
        }),
    });
    this.#zones = model.zones.map((zone) => ({
      apex: zone.apex,
      id: table.defineZone(this.#settings(zone, false), this.#id),
      standing: NOTHING,
    }));
    this.#publishOwnNodes();
  }

  /** Services that wait for their names to be published. */
  get waiting(): number {
    return this.#services.size + (this.#current === undefined ? 0 : 1);
  }

  serviceChanged(unit: ServiceUnit): void {
    this.#services.add(unit);
  }

  namespaceChanged(unit: NamespaceUnit): void {
    this.#namespaces.add(unit);
  }

  /** Publishes one change. @returns false if there were no changes */
  step(): boolean {
    if (this.#current !== undefined) {
      if (this.#current.next().done === true) this.#current = undefined;
      return true;
    }
    const namespace = this.#namespaces.take();
    if (namespace !== undefined) {
      this.#attempt(namespace.name, () => this.#publishNamespace(namespace));
      this.#model.units.dropNamespace(namespace);
      return true;
    }
    const service = this.#services.take();
    if (service !== undefined) {
      this.#current = this.#workOff(service, this.#publishService(service));
      return this.step();
    }
    // Addresses last: more clients ask for names.
    const named = this.#named.take();
    if (named !== undefined) {
      this.#current = this.#workOff(named, this.#publishAddressesOf(named));
      return this.step();
    }
    const address = this.#addresses.take();
    if (address !== undefined) this.#attempt(address, () => this.#publishAddress(address));
    return address !== undefined;
  }

  *#workOff(service: ServiceUnit, work: Steps<void>): Steps<void> {
    const nameOf = () => `${service.namespace.name}/${service.name}`;
    while (this.#fence.take(nameOf, () => work.next())?.done === false) yield;
    this.#model.units.drop(service);
  }

  /** A fault in one object does not affect the others. */
  #attempt(what: string, publish: () => void): void {
    this.#fence.take(() => what, publish);
    this.objectsChanged();
  }

  /** Invalidates cached answers that were derived from the cluster: its objects, or its nodes in the table, have changed. */
  objectsChanged(): void {
    this.#table.publicationChanged(this.#id);
  }

  /** Publishes the zones themselves, after the model has remade them. */
  publishZones(known: boolean): void {
    this.#attempt('the zones', () => {
      for (const [index, zone] of this.#model.zones.entries()) {
        const published = this.#zones[index];
        if (published !== undefined) this.#table.changeZone(published.id, this.#settings(zone, known));
      }
      this.#publishOwnNodes();
    });
    this.#table.collect();
  }

  #settings(zone: Zone, known: boolean) {
    const { dialect, domain } = this.#model.options;
    const askWildcards = dialect.hasWildcards && zone.apex === domain;
    // Upstreams may know other names of the reverse tree.
    const any = zone.apex === domain ? dialect.anyQuestions : 'ask';
    return settingsOf(zone, { known, askWildcards, any });
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

  *#publishService(unit: ServiceUnit): Steps<void> {
    const { namespace } = unit;
    const view = yield* this.#model.viewInSteps(unit);
    const { nodes, reverse } = yield* this.#model.deriveInSteps(view);
    const wasLive = unit.standing.length > 0;
    if (nodes.length > 0 && !wasLive) {
      namespace.live += 1;
      if (namespace.standing.length === 0) this.#publishNamespace(namespace);
    }
    unit.standing = yield* this.#publishNodes(unit, view, nodes);
    if (nodes.length === 0 && wasLive) namespace.live -= 1;
    const wasExternal = namespace.externalNames.delete(unit.name);
    const isExternal = nodes.length > 0 && view?.service.address.kind === 'externalName';
    if (isExternal) namespace.externalNames.add(unit.name);
    if (wasExternal || isExternal || namespace.live === 0) this.#publishNamespace(namespace);
    const end = view?.name ?? this.#model.options.domain;
    const changed = (address: string) => this.#addresses.add(address);
    yield;
    const areKept = unit.kept !== undefined;
    if (yield* this.#model.reverse.replace(unit, end, reverse, changed, areKept)) this.#named.add(unit);
  }

  *#publishNodes(
    unit: ServiceUnit,
    view: ServiceView | undefined,
    nodes: readonly ZoneNode[],
  ): Steps<Standing> {
    const { kept } = unit;
    const [domain] = this.#zones;
    if (kept === undefined || domain === undefined) return this.#publish(unit.standing, nodes);
    kept.nodes ??= this.#publisher.keep(unit.standing);
    const isWhole = yield* this.#publisher.replaceInSteps(kept.nodes, domain.id, nodes);
    kept.view = isWhole ? view : undefined;
    return Array.from(kept.nodes.byName.values(), ({ ref }) => ref);
  }

  #publishNamespace(unit: NamespaceUnit): void {
    unit.standing = this.#publish(unit.standing, this.#namespaceNodes(unit));
  }

  #namespaceNodes(unit: NamespaceUnit): readonly ZoneNode[] {
    const { dialect, domain } = this.#model.options;
    const name = this.#model.namespaceName(unit.name);
    if (name === undefined || !this.#model.isServed(unit)) return [];
    const node = dialect.namespaceNode(name, unit.name, this.#model);
    // As long as the name below `svc`.
    const podName = `${unit.name}.pod.${domain}` as NameKey;
    const pods = dialect.podNamespaceNode(podName, unit.name, this.#model);
    return pods === undefined ? [node] : [node, pods];
  }

  /** Publishes nodes of the cluster's domain. */
  #publish(standing: Standing, nodes: readonly ZoneNode[]): Standing {
    const [domain] = this.#zones;
    return domain === undefined ? NOTHING : this.#publisher.replace(standing, domain.id, nodes);
  }

  /** Publishes the addresses of a service that had no names before. */
  *#publishAddressesOf(unit: ServiceUnit): Steps<void> {
    let count = 0;
    for (const node of this.#model.reverse.nodesOf(unit)) {
      const zone = this.#zoneOf(node.name);
      if (zone !== undefined) this.#publisher.put(zone.id, node);
      count += 1;
      if (count % ADDRESSES_PER_STEP === 0) yield;
    }
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
