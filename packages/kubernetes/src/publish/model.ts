/**
 * The cluster that names are derived from: records, and the dialect that interprets them.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import { NAMESPACE, NAMESPACE_FLAG, SERVICE, SERVICE_FLAG } from '@portolan/kernel/records/layout.ts';
import type { RecordWriter } from '@portolan/kernel/records/record-writer.ts';
import { ServiceFields } from '@portolan/kernel/records/service-fields.ts';
import type { ZoneNode } from '@portolan/kernel/zone/node.ts';
import type { Zone } from '@portolan/kernel/zone/zone.ts';
import type { ServerName, ServiceView, ZoneFacts } from '../dialects/dialect.ts';
import { canonicalAddresses, endpointLabel } from '../names/endpoints.ts';
import { groupByLabel } from '../names/label-groups.ts';
import { nameBelow } from '../names/labels.ts';
import type { PodMode } from '../names/pods.ts';
import { serviceKey, toWireLabel } from '../records/fill-drafts.ts';
import type { PodKeeper } from '../records/pod-keeper.ts';
import { RecordViews } from '../records/record-views.ts';
import { DerivedServices, type NamedService } from './derived-services.ts';
import type { ChangingOptions, ModelOptions } from './model-options.ts';
import type { NamedCluster } from './names.ts';
import { ReverseNames } from './reverse-names.ts';

/** A headless service of nodes may have thousands of endpoints. */
const MAX_SERVER_NAMES = 64;

export class ClusterModel implements NamedCluster {
  readonly reverse: ReverseNames;
  readonly derived: DerivedServices;
  readonly #writer: RecordWriter;
  readonly #views: RecordViews;
  readonly #pods: PodKeeper;
  readonly #fields: ServiceFields;
  #options: ModelOptions;
  #zones: readonly Zone[] = [];
  #ownNodes: ReadonlyMap<NameKey, ZoneNode> = new Map();

  constructor(options: ModelOptions, writer: RecordWriter, pods: PodKeeper) {
    this.#options = options;
    this.#writer = writer;
    this.#pods = pods;
    this.#views = new RecordViews(writer);
    this.#fields = new ServiceFields(writer.space.views);
    this.derived = new DerivedServices(writer, this);
    this.reverse = new ReverseNames(writer, this.derived, this);
    this.renewZones(0);
  }

  get options(): ModelOptions {
    return this.#options;
  }

  change(options: ChangingOptions): void {
    this.#options = { ...this.#options, ...options };
  }

  /** A service that has names. */
  service(namespace: string, name: string): NamedService | undefined {
    return this.derived.find(this.findServiceEntry(namespace, name));
  }

  view(namespace: string, service: string): ServiceView | undefined {
    const entry = this.findServiceEntry(namespace, service);
    return entry === 0 ? undefined : (this.derived.find(entry)?.view ?? this.derived.readServiceView(entry));
  }

  /** The entry of a service, 0 for none. */
  findServiceEntry(namespace: string, service: string): number {
    const key = serviceKey(namespace, service);
    return key === undefined ? 0 : this.#writer.findService(key);
  }

  isHeadless(namespace: string, service: string): boolean {
    return this.#views.service(this.findServiceEntry(namespace, service))?.address.kind === 'headless';
  }

  /** Whether the source has lost what a name is made of. @param below labels left of the service */
  isStale(namespace: string, service: string, below: number): boolean {
    const entry = this.findServiceEntry(namespace, service);
    if (entry === 0) return false;
    this.#fields.load(entry);
    return this.#fields.isStaleAt(below);
  }

  get pods(): PodMode {
    return this.options.pods;
  }

  get ttl(): number {
    return this.options.ttl;
  }

  hasPod(namespace: string, address: string): boolean {
    return this.#pods.has(namespace, address);
  }

  namespaceExists(namespace: string): boolean {
    const entry = this.#findNamespace(namespace);
    if (entry === 0) return false;
    const { usesNamespaces } = this.options.dialect;
    return this.#get(entry + NAMESPACE.LIVE) > 0 || (usesNamespaces && this.hasNamespaceObject(namespace));
  }

  /** Whether the Namespace object exists. */
  hasNamespaceObject(namespace: string): boolean {
    const entry = this.#findNamespace(namespace);
    return entry !== 0 && (this.#get(entry + NAMESPACE.FLAGS) & NAMESPACE_FLAG.HAS_OBJECT) !== 0;
  }

  *namespaces(): Iterable<string> {
    for (const entry of this.#writer.namespaces()) yield this.#views.labelAt(entry + NAMESPACE.KEY);
  }

  *services(namespace: string): Iterable<string> {
    yield* this.#servicesWith(namespace, 0);
  }

  *externalNames(namespace: string): Iterable<string> {
    yield* this.#servicesWith(namespace, SERVICE_FLAG.EXTERNAL);
  }

  /** The services of a namespace that have these flags. */
  *#servicesWith(namespace: string, flags: number): Iterable<string> {
    const parent = this.#findNamespace(namespace);
    if (parent === 0) return;
    if (flags !== 0 && this.#get(parent + NAMESPACE.EXTERNALS) === 0) return;
    for (const entry of this.#writer.listServices(parent))
      if ((this.#get(entry + SERVICE.FLAGS) & flags) === flags)
        yield this.#views.labelAt(entry + SERVICE.KEY);
  }

  #findNamespace(namespace: string): number {
    const label = toWireLabel(namespace);
    return label === undefined ? 0 : this.#writer.findNamespace(label);
  }

  #get(at: number): number {
    return this.#writer.space.views.atoms[at >> 2] ?? 0;
  }

  /** The zones, the cluster's domain first. */
  get zones(): readonly Zone[] {
    return this.#zones;
  }

  /** The nodes of the zones themselves, for each zone its apex first. */
  get ownNodes(): ReadonlyMap<NameKey, ZoneNode> {
    return this.#ownNodes;
  }

  /**
   * Remakes the zones, with a new serial number and the current addresses of the name servers.
   *
   * @param serial seconds since the epoch
   */
  renewZones(serial: number): void {
    const { domain, ttl, pods, dialect, reverseZones } = this.options;
    const serverNames = this.#serverNames();
    const found = serverNames.flatMap(({ addresses }) => addresses);
    const nameservers = canonicalAddresses(found.length > 0 ? found : this.options.ownAddresses);
    const view: ZoneFacts = { domain, ttl, pods, nameservers, serverNames, serial };
    this.#zones = [domain, ...reverseZones].map((apex) => dialect.zone(apex, view));
    const nodes = this.#zones.flatMap((zone) => dialect.apexNodes(zone, view));
    this.#ownNodes = new Map(nodes.map((node) => [node.name, node]));
  }

  /** The services that have this machine as endpoint, and that all clients see; of headless ones their endpoints. */
  #serverNames(): readonly ServerName[] {
    const views = new Map<NameKey, ServiceView>();
    for (const address of canonicalAddresses(this.options.ownAddresses))
      for (const { target, isService } of this.reverse.findNames(address)) {
        // Labels of a name of this model.
        const [, service = '', namespace = ''] = target.split('.');
        const isShown = this.options.tenants?.strangers.seesService(namespace, service) !== false;
        const view = isService || !isShown ? undefined : this.view(namespace, service);
        if (view !== undefined) views.set(view.name, view);
      }
    return [...views.values()].flatMap(listServerNames).slice(0, MAX_SERVER_NAMES);
  }
}

function listServerNames({ name, service: { address }, endpoints }: ServiceView): readonly ServerName[] {
  if (address.kind === 'clusterIPs') return [{ name, addresses: canonicalAddresses(address.addresses) }];
  return groupByLabel(endpoints, endpointLabel).flatMap(({ label, endpoints: own }) => {
    const below = nameBelow(label, name);
    const addresses = canonicalAddresses(own.map((endpoint) => endpoint.address));
    return below === undefined ? [] : [{ name: below, addresses }];
  });
}
