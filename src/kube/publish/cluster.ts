/**
 * Publishes a Kubernetes cluster in the answer table: takes objects through sinks and writes their names to the table.
 *
 * The order of events does not matter: each change marks a service, and a marked service is derived again from all its
 * objects.
 */

import { ChangeQueue } from '../../base/change-queue.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { ItemFence } from '../../base/item-fence.ts';
import type { Log } from '../../base/log.ts';
import type { PublicationId } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import type { NameKey } from '../../wire/types.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { writeCacheTree } from '../dialects/kube-dns/cache-tree.ts';
import type { PodMode } from '../names/pods.ts';
import { checkLine, type ObjectLine, readLine } from '../objects/object-line.ts';
import { type ListState, ObjectStore } from '../objects/object-store.ts';
import type {
  ClusterObject,
  EndpointsObject,
  NamespaceObject,
  ObjectKey,
  ObjectKind,
  PodObject,
  ServiceObject,
} from '../objects/objects.ts';
import { ClusterModel } from './model.ts';
import { KubernetesNames } from './names.ts';
import { Publication } from './publication.ts';
import type { ServiceUnit } from './service-units.ts';

export interface ClusterOptions {
  readonly domain: NameKey;
  readonly dialect: Dialect;
  readonly pods: PodMode;
  /** Seconds, 0 to 3600. */
  readonly ttl: number;
  /** Apexes of reverse zones. Default: `in-addr.arpa.` and `ip6.arpa.`. */
  readonly reverseZones?: readonly NameKey[];
  /** The publication that the zones belong to. Default: the table's first. */
  readonly publication?: PublicationId;
  /** Whether endpoints are followed; without them headless services have no names. Default: yes. */
  readonly hasEndpoints?: boolean;
  /** Whether services with cluster IPs and no ready endpoint have no names. Default: no. */
  readonly ignoresEmptyServices?: boolean;
  /** Types of records that are left out of all answers. */
  readonly filteredTypes?: ReadonlySet<number>;
  /** The addresses of this machine, for the name server's own name. */
  readonly ownAddresses: readonly string[];
}

export interface ClusterState {
  /** Whether all kinds are listed and their names are published. */
  readonly known: boolean;
  /** The needed kinds, each with its list state and number of objects. */
  readonly kinds: ReadonlyMap<ObjectKind, { readonly state: ListState; readonly count: number }>;
  /** Services that wait for their names to be published. */
  readonly waiting: number;
  /** Addresses with names. */
  readonly addresses: number;
}

// Keys by inspection.
const REVERSE_ZONES = ['in-addr.arpa.' as NameKey, 'ip6.arpa.' as NameKey];
/** Characters of a domain that leave room for a namespace and a service. */
const MAX_DOMAIN_CHARACTERS = 120;
/** Milliseconds that services wait for endpoints that are listed. */
const MAX_HOLD = 500;

export class Cluster {
  readonly names: KubernetesNames;
  readonly services: ObjectStore<ServiceObject>;
  readonly endpoints: ObjectStore<EndpointsObject>;
  readonly namespaces: ObjectStore<NamespaceObject>;
  readonly pods: ObjectStore<PodObject>;
  readonly #model: ClusterModel;
  readonly #publication: Publication;
  readonly #queue: ChangeQueue;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #needed: ReadonlyMap<ObjectKind, ObjectStore<never>>;
  readonly #whenKnown: (() => void)[] = [];
  #isKnown = false;
  #hasBeenKnown = false;
  #isIncomplete = false;
  #generation = 0;
  #endpointsTimer: Timer | undefined;
  /** Whether services have waited for their endpoints for long enough. */
  #endpointsOverdue: boolean;
  /** The generation in which the zones themselves were made. */
  #published = 0;

  /** @throws RangeError for a domain too long to have services below it */
  constructor(options: ClusterOptions, table: TableWriter, clock: Clock, log: Log) {
    if (options.domain.length > MAX_DOMAIN_CHARACTERS)
      throw new RangeError(
        `cluster domain too long: ${options.domain}; at most ${MAX_DOMAIN_CHARACTERS} characters`,
      );
    const { domain, dialect, pods, ttl, ownAddresses, reverseZones = REVERSE_ZONES } = options;
    const { hasEndpoints = true, ignoresEmptyServices = false } = options;
    this.#clock = clock;
    this.#log = log;
    this.#model = new ClusterModel({
      ...{ domain, dialect, pods, ttl, ownAddresses, reverseZones, ignoresEmptyServices },
    });
    this.#model.renewZones(this.#seconds());
    this.names = new KubernetesNames(this.#model);
    this.#publication = new Publication(this.#model, table, { clock, log }, options);
    this.#queue = new ChangeQueue(
      clock,
      () => this.#publication.step(),
      () => this.#settled(),
    );
    const listed = () => this.#queue.schedule();
    this.services = new ObjectStore(
      (key, _before, after, object) => this.#serviceChanged(key, after, object),
      listed,
    );
    this.endpoints = new ObjectStore(
      (_key, before, after, object) => this.#endpointsChanged(before, after, object),
      () => this.#endpointsListed(),
    );
    this.namespaces = new ObjectStore((key, _before, after) => this.#namespaceChanged(key, after), listed);
    this.pods = new ObjectStore((_key, before, after) => this.#podChanged(before, after), listed);
    this.#endpointsOverdue = !hasEndpoints;
    this.#needed = this.#neededStores(dialect.usesNamespaces, hasEndpoints, pods);
  }

  /** Grows with every change of an object: answers from an older generation may be stale. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether a missing name may be denied: all kinds are listed and published, and none is incomplete now. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Whether `isKnown` was ever true: from then on its names are better than no names. */
  get hasBeenKnown(): boolean {
    return this.#hasBeenKnown;
  }

  /** While some objects cannot be read, missing names are not denied. */
  markIncomplete(isIncomplete: boolean): void {
    if (isIncomplete === this.#isIncomplete) return;
    this.#isIncomplete = isIncomplete;
    this.#changed();
  }

  /** The kinds that must be listed before the zones are known. */
  get neededKinds(): readonly ObjectKind[] {
    return [...this.#needed.keys()];
  }

  state(): ClusterState {
    const kinds = new Map(
      Array.from(this.#needed, ([kind, store]) => [kind, { state: store.state, count: store.count() }]),
    );
    return {
      known: this.#isKnown,
      kinds,
      waiting: this.#publication.waiting,
      addresses: this.#model.reverse.size,
    };
  }

  /** Whether a service has no address of its own. */
  isHeadless(namespace: string, name: string): boolean {
    const line = this.#model.units.find(namespace, name)?.service;
    return line !== undefined && readLine<ServiceObject>(line).address.kind === 'headless';
  }

  /** Calls `run` once when the zones have become known, at once if they are. */
  whenKnown(run: () => void): void {
    if (this.#hasBeenKnown) run();
    else this.#whenKnown.push(run);
  }

  /** Publishes all pending changes now. */
  settle(): void {
    if (this.#endpointsTimer !== undefined) this.#publishMissing();
    this.#queue.settle();
  }

  /** Stops publishing. */
  stop(): void {
    this.#endpointsTimer?.cancel();
    this.#queue.stop();
  }

  /** The zone as kube-dns prints it: JSON, in pieces that are made as the caller takes them. */
  cacheTree(): Iterable<string> {
    return writeCacheTree(this.#model.options.domain, this.#model);
  }

  /** All objects, one per line. */
  *snapshot(): Iterable<string> {
    for (const store of [this.services, this.endpoints, this.namespaces, this.pods]) yield* store.lines();
  }

  /**
   * Takes in the lines of a snapshot. An object that the next list of its kind lacks is removed at the end of that list. The
   * zones stay unknown, but the names of these objects are answered.
   *
   * Invalid lines are skipped.
   */
  restore(lines: Iterable<string>): void {
    this.#model.endpointsKnown = true;
    const fence = new ItemFence({ source: 'snapshot', clock: this.#clock, log: this.#log });
    let number = 0;
    for (const line of lines) {
      number += 1;
      fence.take(
        () => `object ${number}`,
        () => this.#restoreObject(checkLine(line)),
      );
    }
  }

  #restoreObject(object: ClusterObject): void {
    if (object.kind === 'Service') this.services.upsert(object);
    else if (object.kind === 'Endpoints') this.endpoints.upsert(object);
    else if (object.kind === 'Namespace') this.namespaces.upsert(object);
    else this.pods.upsert(object);
  }

  #neededStores(
    usesNamespaces: boolean,
    hasEndpoints: boolean,
    pods: PodMode,
  ): ReadonlyMap<ObjectKind, ObjectStore<never>> {
    const stores = new Map<ObjectKind, ObjectStore<never>>([['Service', this.services]]);
    if (hasEndpoints) stores.set('Endpoints', this.endpoints);
    if (usesNamespaces) stores.set('Namespace', this.namespaces);
    if (pods === 'verified') stores.set('Pod', this.pods);
    return stores;
  }

  #serviceChanged(key: ObjectKey, after: ObjectLine | undefined, object: ServiceObject | undefined): void {
    const slash = key.indexOf('/');
    const { namespace, name } = object ?? { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
    const unit = this.#model.units.unit(namespace, name);
    unit.service = after;
    if (after !== undefined && object !== undefined) this.#model.recent.keep(after, object);
    if (!this.#holdsBack(unit)) this.#publication.serviceChanged(unit);
    this.#changed();
  }

  /**
   * Whether the names of a service wait until its endpoints arrive, so that they are not derived twice. A service without
   * endpoints waits until all are listed, at most `MAX_HOLD`.
   */
  #holdsBack(unit: ServiceUnit): boolean {
    if (this.#endpointsOverdue || this.#model.endpointsKnown || unit.endpoints.length > 0) return false;
    this.#endpointsTimer ??= this.#clock.after(MAX_HOLD, () => this.#releaseServices());
    return true;
  }

  #releaseServices(): void {
    this.#endpointsOverdue = true;
    this.#publishMissing();
    this.#queue.schedule();
  }

  #endpointsChanged(
    before: ObjectLine | undefined,
    after: ObjectLine | undefined,
    object: EndpointsObject | undefined,
  ): void {
    if (before !== undefined) {
      const unit = this.#unitOfEndpoints(readLine<EndpointsObject>(before));
      unit.endpoints = unit.endpoints.toSpliced(unit.endpoints.indexOf(before), 1);
    }
    if (after !== undefined && object !== undefined) {
      const unit = this.#unitOfEndpoints(object);
      unit.endpoints = unit.endpoints.length === 0 ? [after] : [...unit.endpoints, after];
      this.#model.recent.keep(after, object);
    }
    this.#changed();
  }

  /** The unit of the service that the endpoints belong to; marks it as changed. */
  #unitOfEndpoints({ namespace, service }: EndpointsObject): ServiceUnit {
    const unit = this.#model.units.unit(namespace, service);
    this.#publication.serviceChanged(unit);
    return unit;
  }

  #endpointsListed(): void {
    if (!this.#model.endpointsKnown) {
      this.#model.endpointsKnown = true;
      this.#endpointsTimer?.cancel();
      this.#publishMissing();
    }
    this.#queue.schedule();
  }

  /** Services that were held back until now: headless ones, and those without endpoints. */
  #publishMissing(): void {
    for (const unit of this.#model.units.services()) {
      if (unit.service !== undefined && unit.standing.length === 0) this.#publication.serviceChanged(unit);
    }
  }

  #namespaceChanged(name: string, after: ObjectLine | undefined): void {
    const unit = this.#model.units.namespace(name);
    unit.hasObject = after !== undefined;
    this.#publication.namespaceChanged(unit);
    this.#changed();
  }

  #podChanged(before: ObjectLine | undefined, after: ObjectLine | undefined): void {
    if (before !== undefined) this.#model.podIndex.remove(readLine<PodObject>(before));
    if (after !== undefined) this.#model.podIndex.add(readLine<PodObject>(after));
    this.#changed();
  }

  #changed(): void {
    this.#generation += 1;
    this.#publication.objectsChanged();
    this.#queue.schedule();
  }

  #settled(): void {
    this.#model.recent.clear();
    const isListed = [...this.#needed.values()].every((store) => store.state === 'listed');
    this.#isKnown = isListed && !this.#isIncomplete;
    const becameKnown = this.#isKnown && !this.#hasBeenKnown;
    this.#hasBeenKnown ||= this.#isKnown;
    if (becameKnown || this.#generation !== this.#published) {
      this.#published = this.#generation;
      this.#model.renewZones(this.#seconds());
      this.#publication.publishZones(this.#isKnown);
    }
    if (becameKnown) for (const run of this.#whenKnown.splice(0)) run();
  }

  #seconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}
