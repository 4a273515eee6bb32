/**
 * A Kubernetes cluster: takes objects through sinks, keeps them as records in the answer table, and answers from them.
 *
 * The order of events does not matter: each object is a record of its own, and answers are composed from those that exist.
 */
import { type AddressMatch, type AddressRange, matchRanges } from '@portolan/dns/address-range.ts';
import { isWithin, labelsBelow } from '@portolan/dns/name.ts';
import { type NameKey, TYPE } from '@portolan/dns/types.ts';
import { ChangeQueue } from '@portolan/kernel/base/change-queue.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { Losses } from '@portolan/kernel/base/losses.ts';
import type { Steps } from '@portolan/kernel/base/steps.ts';
import { isRecordLine, putRecordLine } from '@portolan/kernel/records/record-lines.ts';
import { RecordWriter } from '@portolan/kernel/records/record-writer.ts';
import { copySegment } from '@portolan/kernel/records/segment.ts';
import { loadSegment } from '@portolan/kernel/records/segment-loader.ts';
import { Segment } from '@portolan/kernel/records/segment-reader.ts';
import { NO_LIST } from '@portolan/kernel/records/stale-entries.ts';
import { TableFullError } from '@portolan/kernel/table/arena.ts';
import type { RecordSpace } from '@portolan/kernel/table/record-space.ts';
import { DEFAULT_PUBLICATION, type PublicationId } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import type { NameSource } from '@portolan/kernel/zone/node.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { writeCacheTree } from '../dialects/kube-dns/cache-tree.ts';
import type { EndpointZones } from '../names/endpoint-zones.ts';
import type { PodMode } from '../names/pods.ts';
import { REVERSE_TREES } from '../names/reverse-name.ts';
import { checkLine, ObjectLineError } from '../objects/object-line.ts';
import type {
  ClusterObject,
  EndpointsObject,
  NamespaceObject,
  NodeRangesObject,
  ObjectKind,
  ObjectSink,
  PodObject,
  ServiceObject,
} from '../objects/objects.ts';
import { ClusterContents } from '../records/cluster-contents.ts';
import { type GuardRecords, keepNamespaces, keepServices, keepSlices } from '../records/keepers.ts';
import { PodKeeper } from '../records/pod-keeper.ts';
import { type ListState, type RecordKeeper, RecordSink } from '../records/record-sink.ts';
import { ClientNames } from './client-names.ts';
import { ClusterNodes } from './cluster-nodes.ts';
import { ClusterModel } from './model.ts';
import type { ChangingOptions, ClusterLabels } from './model-options.ts';
import { KubernetesNames } from './names.ts';
import type { NodesUse } from './nodes-use.ts';
import { ServiceLog } from './service-log.ts';
import type { TenantRules } from './tenant-rules.ts';
import { Tenants } from './tenants.ts';
import { VisibleCluster } from './visible-cluster.ts';
import { ZonePublication } from './zone-publication.ts';

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
  /** Whether services have HTTPS records (RFC 9460), by what their ports speak. Default: no. */
  readonly hasHttpsRecords?: boolean;
  /** Whether loopback and other special addresses have reverse names, as in CoreDNS. Default: no. */
  readonly namesSpecialAddresses?: boolean;
  /** The ranges of pods and nodes: endpoints of services without a selector have reverse names only there. Default: anywhere. */
  readonly endpointRanges?: readonly AddressRange[] | undefined;
  /** How nodes are used. Default: not at all, and `nodes` takes none. */
  readonly nodes?: NodesUse | undefined;
  /** The topology zones of endpoints, for names that select by zone. Default: there are no such names. */
  readonly zones?: EndpointZones;
  /** Who sees what: rules, or the tenants of another cluster with the same namespaces and pods. Default: all clients see everything. */
  readonly tenants?: TenantRules | Tenants | undefined;
  /** For a cluster set: the names of its endpoints have the label of a cluster too. */
  readonly clusterLabels?: ClusterLabels;
  /** Judges what the source of the objects loses. Default: everything goes at once. */
  readonly losses?: Losses | undefined;
  /** Types of records that are left out of all answers. */
  readonly filteredTypes?: ReadonlySet<number>;
  /** The addresses of this machine, for the name server's own name. */
  readonly ownAddresses: readonly string[];
}

/** All objects of a cluster at one moment. */
export interface ClusterCopy {
  /** Octets, to be written one after another. */
  readonly parts: readonly Uint8Array[];
  /** Objects. */
  readonly count: number;
}

export interface ClusterState {
  /** Whether all kinds are listed and their names are published. */
  readonly known: boolean;
  /** The needed kinds, each with its list state and number of objects. */
  readonly kinds: ReadonlyMap<ObjectKind, { readonly state: ListState; readonly count: number }>;
  /** Addresses with names. */
  readonly addresses: number;
}

/** Characters of a domain that leave room for a namespace and a service. */
const MAX_DOMAIN_CHARACTERS = 120;

export class Cluster {
  readonly names: KubernetesNames;
  /** Takes the ranges of nodes; undefined: nothing is learned from them. */
  readonly nodes: ObjectSink<NodeRangesObject> | undefined;
  /** Decides which clients see which names; undefined: all see all. */
  readonly tenants: Tenants | undefined;
  /** For people who ask about the cluster. */
  readonly contents: ClusterContents;
  /** Which services appeared or disappeared. */
  readonly log: ServiceLog;
  readonly services: RecordSink<ServiceObject>;
  readonly endpoints: RecordSink<EndpointsObject>;
  readonly namespaces: RecordSink<NamespaceObject>;
  readonly pods: RecordSink<PodObject>;
  readonly #writer: RecordWriter;
  readonly #pods: PodKeeper;
  readonly #model: ClusterModel;
  readonly #publication: ZonePublication;
  readonly #queue: ChangeQueue;
  readonly #nodes: ClusterNodes | undefined;
  readonly #clientNames: ClientNames;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #needed: ReadonlyMap<ObjectKind, RecordSink<never>>;
  readonly #whenKnown: (() => void)[] = [];
  readonly #listeners = new Set<() => void>();
  /** Claims of endpoints while they are judged again by other ranges. */
  #reclaiming: Steps<void> | undefined;
  #isKnown = false;
  #hasBeenKnown = false;
  #isIncomplete = false;
  #generation = 0;
  /** The generation in which the zones themselves were made. */
  #published = 0;
  /** The serial number of the zones, and the one that a secondary server has last taken. */
  #serial: number;
  #takenSerial = 0;

  /** @throws RangeError for a domain too long to have services below it */
  constructor(options: ClusterOptions, table: TableWriter, clock: Clock, log: Log) {
    if (options.domain.length > MAX_DOMAIN_CHARACTERS)
      throw new RangeError(
        `cluster domain too long: ${options.domain}; at most ${MAX_DOMAIN_CHARACTERS} characters`,
      );
    const { domain, dialect, pods, ttl, ownAddresses, reverseZones = REVERSE_TREES } = options;
    const { hasEndpoints = true, ignoresEmptyServices = false, filteredTypes = new Set() } = options;
    const hasHttpsRecords = options.hasHttpsRecords === true && !filteredTypes.has(TYPE.HTTPS);
    const { publication = DEFAULT_PUBLICATION, zones, clusterLabels, losses } = options;
    this.#clock = clock;
    this.#log = log;
    const space = table.openRecordSpace(publication);
    this.log = new ServiceLog(space.views, {
      clock,
      isListed: () => this.services.state === 'listed',
      areEndpointsListed: () => this.endpoints.state === 'listed',
    });
    const { namesSpecialAddresses = false } = options;
    const keepsPlaces = options.nodes?.prefersZone === true;
    const isKubeDns = dialect.name === 'kube-dns';
    const recordOptions = {
      isKubeDns,
      namesSpecialAddresses,
      keepsPlaces,
      keepsAppProtocols: hasHttpsRecords,
    };
    this.#nodes = this.#makeNodes(options.nodes, space);
    this.nodes = this.#nodes?.sink;
    const endpointRanges = this.#matchEndpoints(options.endpointRanges);
    this.#writer = new RecordWriter(space, { ...recordOptions, endpointRanges }, this.log);
    this.contents = new ClusterContents(this.#writer);
    this.#pods = new PodKeeper(this.#writer);
    this.tenants = this.#makeTenants(options.tenants);
    const model = {
      domain,
      dialect,
      pods,
      ttl,
      ownAddresses,
      reverseZones,
      ignoresEmptyServices,
      hasHttpsRecords,
      filteredTypes,
      zones,
      clusterLabels,
      tenants: this.tenants,
    };
    this.#model = new ClusterModel(model, this.#writer, this.#pods);
    this.#serial = this.#seconds();
    this.#model.renewZones(this.#serial);
    this.names = new KubernetesNames(this.#model);
    this.#clientNames = new ClientNames(this.#model, this.names, this.#writer);
    this.#publication = new ZonePublication(
      this.#model,
      { table, space },
      { clock, log },
      { publication, filteredTypes, places: () => this.#nodes?.block ?? 0 },
    );
    this.#queue = new ChangeQueue(
      clock,
      () => this.#reclaimStep(),
      () => this.#settled(),
    );
    const listed = () => this.#queue.schedule();
    const makeGuard = this.#guardMaker(losses);
    this.services = this.#sink(keepServices(this.#writer, makeGuard), listed);
    this.endpoints = this.#sink(keepSlices(this.#writer, makeGuard), () => this.#endpointsListed());
    this.namespaces = this.#sink(keepNamespaces(this.#writer, makeGuard), listed);
    this.pods = this.#sink(this.#pods, listed);
    if (zones !== undefined) zones.changed = () => this.#changed();
    this.#needed = this.#neededSinks(dialect.usesNamespaces, hasEndpoints, pods);
  }

  /** What is removed later changes the zone as what is removed at once does. */
  #guardMaker(losses = this.#judgeNothing()): GuardRecords {
    return (kind, stale) =>
      losses.guard(
        { kind, subject: this.names.domain },
        {
          count: () => stale.count(),
          remove: (mark) => {
            stale.remove(mark);
            this.#changed();
          },
        },
      );
  }

  #judgeNothing(): Losses {
    return new Losses(undefined, { clock: this.#clock, log: this.#log });
  }

  #sink<Kind extends ClusterObject>(keeper: RecordKeeper<Kind>, listed: () => void): RecordSink<Kind> {
    return new RecordSink(keeper, () => this.#changed(), listed, this.#log);
  }

  #makeTenants(tenants: TenantRules | Tenants | undefined): Tenants | undefined {
    if (tenants === undefined || tenants instanceof Tenants) return tenants;
    return new Tenants(tenants, {
      hasNamespace: (namespace) => this.hasNamespace(namespace),
      hasService: (namespace, name) => this.contents.service(namespace, name) !== undefined,
      changed: () => this.#changed(),
    });
  }

  #makeNodes(use: NodesUse | undefined, space: RecordSpace): ClusterNodes | undefined {
    if (use === undefined) return undefined;
    const hooks = {
      show: () => this.#publication.showCluster(),
      rangesChanged: () => {
        this.#reclaiming = this.#writer.reclaim();
        this.#changed();
      },
    };
    return new ClusterNodes(use, space, hooks, this.#log);
  }

  /** Where endpoints of services without a selector may have reverse names; undefined: at any address. */
  #matchEndpoints(ranges: readonly AddressRange[] | undefined): AddressMatch | undefined {
    const isConfigured = ranges && matchRanges(ranges);
    const nodes = this.#nodes;
    if (nodes?.use.boundsEndpoints !== true) return isConfigured;
    return (octets) => isConfigured?.(octets) === true || nodes.has(octets);
  }

  /** @returns whether there is more to claim */
  #reclaimStep(): boolean {
    if (this.#reclaiming === undefined) return false;
    if (this.#reclaiming.next().done === true) this.#reclaiming = undefined;
    else return true;
    // Answers derived in the meantime lack the new claims.
    this.#publication.objectsChanged();
    return false;
  }

  /** The names as a client at an address sees them. @param findAddress called only if they depend on it */
  namesFor(findAddress: () => string): NameSource {
    const nodes = this.#nodes;
    const names = this.visibleNames(findAddress);
    if (nodes?.use.prefersZone !== true) return names;
    return this.#clientNames.for(() => nodes.findPlace(findAddress()), names);
  }

  /** As `namesFor`, with all endpoints of services. */
  visibleNames(findAddress: () => string): KubernetesNames {
    const sight = this.tenants?.findSight(findAddress());
    return sight === undefined ? this.names : new KubernetesNames(new VisibleCluster(this.#model, sight));
  }

  /** How nodes are used; undefined: they are not watched. */
  get nodesUse(): NodesUse | undefined {
    return this.#nodes?.use;
  }

  /** Grows with every change of an object: answers from an older generation may be stale. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether a missing name may be denied: all kinds are listed, and none is incomplete now. */
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
      Array.from(this.#needed, ([kind, sink]) => [kind, { state: sink.state, count: sink.count() }]),
    );
    return { known: this.#isKnown, kinds, addresses: this.#writer.claims.count };
  }

  /** Octets of the records and their indexes. */
  get octets(): number {
    return this.#writer.space.octets;
  }

  /** Whether services have HTTPS records. */
  get hasHttpsRecords(): boolean {
    return this.#model.options.hasHttpsRecords;
  }

  /** Whether a service has no address of its own. */
  isHeadless(namespace: string, name: string): boolean {
    return this.#model.isHeadless(namespace, name);
  }

  /** Whether the object of a namespace exists. */
  hasNamespace(namespace: string): boolean {
    return this.#model.hasNamespaceObject(namespace);
  }

  /** Calls `run` once when the zones have become known, at once if they are. */
  whenKnown(run: () => void): void {
    if (this.#hasBeenKnown) run();
    else this.#whenKnown.push(run);
  }

  /** @param run called when the zones have another serial number. @returns a function that ends this */
  onChange(run: () => void): () => void {
    this.#listeners.add(run);
    return () => void this.#listeners.delete(run);
  }

  /** A secondary server takes all names as they are now. The next change has a later serial number, also within the same second. */
  noteTransfer(): void {
    this.#takenSerial = this.#serial;
  }

  /** Makes all pending changes of the zones now. */
  settle(): void {
    this.#queue.settle();
  }

  /** Whether names are answered that their source has lost. */
  get hasStaleNames(): boolean {
    const { services, slices, namespaces } = this.#writer.stale;
    return services + slices + namespaces > 0;
  }

  /** Whether a name is one of a service that is stale, or below it. */
  isStale(name: NameKey): boolean {
    if (!this.hasStaleNames) return false;
    const { domain } = this.#model.options;
    if (!isWithin(name, domain)) return false;
    const labels = labelsBelow(name, domain);
    const [service = '', namespace = '', kind] = labels.slice(-3);
    return kind === 'svc' && this.#model.isStale(namespace, service, labels.length - 3);
  }

  /** Takes no more changes. What is cleared from then on did not change in the cluster. */
  stop(): void {
    this.log.follow(undefined);
    this.#queue.stop();
    for (const sink of [this.services, this.endpoints, this.namespaces]) sink.stop();
  }

  /**
   * Answers by other options from now on.
   *
   * @throws TableFullError and keeps the former options
   */
  change({ ttl, ignoresEmptyServices }: ChangingOptions): void {
    const { ttl: formerTtl, ignoresEmptyServices: ignoredEmptyServices } = this.#model.options;
    if (ttl === formerTtl && ignoresEmptyServices === ignoredEmptyServices) return;
    this.#model.change({ ttl, ignoresEmptyServices });
    try {
      this.#publication.showCluster();
    } catch (error) {
      this.#model.change({ ttl: formerTtl, ignoresEmptyServices: ignoredEmptyServices });
      throw error;
    }
    this.#changed();
    this.settle();
  }

  /** Removes all records, in steps. Readers see none from the first one on. */
  *clear(): Steps<void> {
    this.stop();
    this.#publication.hide();
    yield;
    const writer = this.#writer;
    for (const slice of writer.slices.missingIn(NO_LIST)) writer.dropSlice(slice);
    yield;
    for (const service of writer.servicesMissingIn(NO_LIST)) writer.dropService(service);
    yield;
    for (const namespace of writer.namespacesMissingIn(NO_LIST)) writer.dropNamespace(namespace);
    yield;
    this.#pods.sweep(NO_LIST);
    yield;
    this.#nodes?.clear();
  }

  /** The zone as kube-dns prints it: JSON, in pieces that are made as the caller takes them. */
  cacheTree(): Iterable<string> {
    return writeCacheTree(this.#model.options.domain, this.#model);
  }

  /** All objects as they are now: a segment of records, then pods. The parts are copies. */
  snapshot(): ClusterCopy {
    const { services, slices, namespaceObjects } = this.#writer;
    const count = services + slices.count + namespaceObjects + this.#pods.count();
    return { parts: [...copySegment(this.#writer), this.#pods.copy()], count };
  }

  /**
   * Takes in a snapshot, before anything is listed and before readers see the cluster. An object that the next list of its kind lacks
   * is removed at the end of that list. The zones stay unknown, but the names of these objects are answered.
   *
   * @returns whether it is a snapshot; other octets change nothing
   */
  restore(octets: Uint8Array): boolean {
    const segment = Segment.read(octets);
    if (segment === undefined) return false;
    try {
      loadSegment(this.#writer, segment);
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      const fields = { of: 'the snapshot', octets: error.octets };
      this.#log.error('names not published, the answer table is full', fields);
    }
    this.#pods.restore(octets.subarray(segment.length), this.#makeSnapshotGuard());
    this.#knowEndpoints();
    this.#changed();
    return true;
  }

  #makeSnapshotGuard(): ItemGuard {
    return new ItemGuard({ source: 'snapshot', clock: this.#clock, log: this.#log });
  }

  /** As `restore`, from the lines of the former format. Invalid lines are skipped. */
  restoreLines(lines: Iterable<string>): void {
    this.#knowEndpoints();
    const guard = this.#makeSnapshotGuard();
    let number = 0;
    for (const line of lines) {
      number += 1;
      guard.take(
        () => `object ${number}`,
        () => this.#restoreLine(line),
      );
    }
  }

  #restoreLine(line: string): void {
    if (!isRecordLine(line)) {
      this.#restoreObject(checkLine(line));
      return;
    }
    // The number of no list: the first list removes what it does not contain.
    if (!putRecordLine(this.#writer, line, 0)) throw new ObjectLineError(line);
    this.#changed();
  }

  /** Still older lines have services and slices as objects too. */
  #restoreObject(object: ClusterObject): void {
    if (object.kind === 'Service') this.services.upsert(object);
    else if (object.kind === 'Endpoints') this.endpoints.upsert(object);
    else if (object.kind === 'Namespace') this.namespaces.upsert(object);
    else this.pods.upsert(object);
  }

  #neededSinks(
    usesNamespaces: boolean,
    hasEndpoints: boolean,
    pods: PodMode,
  ): ReadonlyMap<ObjectKind, RecordSink<never>> {
    const sinks = new Map<ObjectKind, RecordSink<never>>([['Service', this.services]]);
    if (hasEndpoints) sinks.set('Endpoints', this.endpoints);
    if (usesNamespaces || this.tenants !== undefined) sinks.set('Namespace', this.namespaces);
    if (pods === 'verified' || this.tenants !== undefined) sinks.set('Pod', this.pods);
    return sinks;
  }

  #endpointsListed(): void {
    this.#knowEndpoints();
    this.#queue.schedule();
  }

  #knowEndpoints(): void {
    if (this.#model.derived.areEndpointsKnown) return;
    this.#model.derived.areEndpointsKnown = true;
    this.#publication.showCluster();
    this.#publication.objectsChanged();
  }

  #changed(): void {
    this.#generation += 1;
    this.#publication.objectsChanged();
    this.#queue.schedule();
  }

  #settled(): void {
    const isListed = [...this.#needed.values()].every((sink) => sink.state === 'listed');
    this.#isKnown = isListed && !this.#isIncomplete;
    const becameKnown = this.#isKnown && !this.#hasBeenKnown;
    this.#hasBeenKnown ||= this.#isKnown;
    if (becameKnown || this.#generation !== this.#published) {
      this.#published = this.#generation;
      this.#serial = Math.max(this.#seconds(), this.#takenSerial + 1);
      this.#model.renewZones(this.#serial);
      this.#publication.publishZones(this.#isKnown);
      for (const run of this.#listeners) run();
    }
    if (becameKnown) for (const run of this.#whenKnown.splice(0)) run();
  }

  #seconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}
