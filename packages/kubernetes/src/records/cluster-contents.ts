/**
 * The services, endpoints and namespaces of a cluster as its records have them, for people who ask about them.
 */
import { parseAddress, reverseName } from '@portolan/dns/address.ts';
import { isWithin } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import {
  ENDPOINT_STATE,
  NAMESPACE,
  NAMESPACE_FLAG,
  SECTION,
  SERVICE,
  SERVICE_FLAG,
} from '@portolan/kernel/records/layout.ts';
import type { RecordWriter } from '@portolan/kernel/records/record-writer.ts';
import { computeBucket, ServiceHasher, serviceKeyAt } from '@portolan/kernel/records/service-digest.ts';
import {
  listSections,
  readEndpointAddress,
  readEndpointHostname,
  readyIn,
} from '@portolan/kernel/records/slice-addresses.ts';
import { mergeTargets, type NamedTarget } from '../names/endpoint-targets.ts';
import { type Endpoint, mergeEndpoints } from '../names/endpoints.ts';
import { REVERSE_TREES } from '../names/reverse-name.ts';
import type { ServiceObject } from '../objects/objects.ts';
import { serviceKey, toWireLabel } from './fill-drafts.ts';
import { formatValue, type NamespacedName, RecordViews } from './record-views.ts';

export interface ServiceEndpoint {
  /** Canonical; or a name, of a slice of `addressType: FQDN`. */
  readonly address: string;
  /** Only of ready endpoints. */
  readonly hostname: string | undefined;
}

/** The endpoints of a service by what their conditions say. A terminating one is not ready either. */
export interface ServiceEndpoints {
  readonly ready: readonly ServiceEndpoint[];
  readonly notReady: readonly ServiceEndpoint[];
  readonly terminating: readonly ServiceEndpoint[];
}

export interface HashedService extends NamespacedName {
  readonly bucket: number;
  /** Valid until the next service. */
  readonly hash: ServiceHasher;
}

/** Services that are found for one address. */
const MAX_OWNERS = 64;

export class ClusterContents {
  readonly #writer: RecordWriter;
  readonly #views: RecordViews;

  constructor(writer: RecordWriter) {
    this.#writer = writer;
    this.#views = new RecordViews(writer);
  }

  service(namespace: string, name: string): ServiceObject | undefined {
    return this.#views.service(this.#findServiceEntry(namespace, name));
  }

  /** The endpoints of a service, whether or not the service exists. */
  endpoints(namespace: string, name: string): ServiceEndpoints {
    const found = { ready: [], notReady: [], terminating: [] } as {
      [Name in keyof ServiceEndpoints]: ServiceEndpoint[];
    };
    const entry = this.#findServiceEntry(namespace, name);
    if (entry === 0) return found;
    const { views } = this.#writer.space;
    for (const record of this.#writer.slices.records(entry))
      for (const section of listSections(views, record)) {
        const ready = readyIn(views, section);
        const all = (views.words[(section + SECTION.COUNTS) >> 2] ?? 0) >>> 16;
        for (let index = 0; index < all; index += 1) {
          const address = formatValue(readEndpointAddress(views, section, index));
          if (index < ready)
            found.ready.push({ address, hostname: readEndpointHostname(views, section, index) });
          else if (this.#isTerminating(section, index - ready))
            found.terminating.push({ address, hostname: undefined });
          else found.notReady.push({ address, hostname: undefined });
        }
      }
    for (const { target, label } of this.#views.targets(entry))
      found.ready.push({ address: target, hostname: label });
    return found;
  }

  /** The ready endpoints of a service with their ports, those of all its slices merged. */
  readyEndpoints(namespace: string, name: string): readonly Endpoint[] {
    const entry = this.#findServiceEntry(namespace, name);
    return entry === 0 ? [] : mergeEndpoints(this.#views.endpoints(entry));
  }

  /** The ready endpoints of a service that are names. */
  readyTargets(namespace: string, name: string): readonly NamedTarget[] {
    const entry = this.#findServiceEntry(namespace, name);
    return entry === 0 ? [] : mergeTargets(this.#views.targets(entry));
  }

  /** The endpoints with addresses, by slice. */
  readySlices(namespace: string, name: string): readonly (readonly Endpoint[])[] {
    const entry = this.#findServiceEntry(namespace, name);
    return entry === 0 ? [] : this.#views.endpoints(entry);
  }

  /** The first services that have an address, their own or that of a ready endpoint. @param address canonical */
  servicesAt(address: string): readonly NamespacedName[] {
    const octets = parseAddress(address);
    const owners = octets === undefined ? [] : this.#writer.claims.listOwners(octets, MAX_OWNERS);
    return owners.map((entry) => this.#views.readNamespacedName(entry));
  }

  *services(): Iterable<NamespacedName> {
    for (const namespace of this.#writer.namespaces())
      for (const entry of this.#writer.listServices(namespace))
        if (this.#views.hasService(entry)) yield this.#views.readNamespacedName(entry);
  }

  /** The services of a namespace with the hash of their names and data, and the bucket that servers compare. */
  *hashedServices(namespace: string): Iterable<HashedService> {
    const label = toWireLabel(namespace);
    const entry = label === undefined ? 0 : this.#writer.findNamespace(label);
    if (entry === 0) return;
    const { views } = this.#writer.space;
    const hasher = new ServiceHasher(views);
    for (const service of this.#writer.listServices(entry)) {
      const record = views.words[(service + SERVICE.RECORD) >> 2] ?? 0;
      if (record === 0) continue;
      const key = serviceKeyAt(views, service);
      hasher.hash(key, record);
      yield { ...this.#views.readNamespacedName(service), bucket: computeBucket(key), hash: hasher };
    }
  }

  /** The namespaces that exist as objects, or have services or slices. */
  *namespaces(): Iterable<string> {
    for (const entry of this.#writer.namespaces()) yield this.#views.labelAt(entry + NAMESPACE.KEY);
  }

  hasNamespace(namespace: string): boolean {
    const label = toWireLabel(namespace);
    const entry = label === undefined ? 0 : this.#writer.findNamespace(label);
    return entry !== 0 && this.#exists(entry);
  }

  /** Services of type ExternalName, with the names that they lead to. */
  *externalNames(): Iterable<NamespacedName & { readonly target: string }> {
    for (const namespace of this.#writer.namespaces())
      for (const entry of this.#writer.listServices(namespace)) {
        const service = this.#views.service(entry);
        if (service?.address.kind !== 'externalName') continue;
        yield { namespace: service.namespace, name: service.name, target: service.address.name };
      }
  }

  /**
   * Services with an address that no reverse zone has, though one is of its family, each with the first such address.
   *
   * @param zones apexes at or below `in-addr.arpa.` and `ip6.arpa.`
   */
  *outsideOf(zones: readonly NameKey[]): Iterable<NamespacedName & { readonly address: string }> {
    const trees = REVERSE_TREES.filter((tree) => zones.some((zone) => zone !== tree && isWithin(zone, tree)));
    const narrowed = trees.filter((tree) => !zones.includes(tree));
    if (narrowed.length === 0) return;
    const isOutside = (address: string) => {
      const name = reverseName(address);
      return narrowed.some((tree) => isWithin(name, tree)) && !zones.some((zone) => isWithin(name, zone));
    };
    for (const namespace of this.#writer.namespaces())
      for (const entry of this.#writer.listServices(namespace)) {
        const service = this.#views.service(entry);
        if (service?.address.kind !== 'clusterIPs') continue;
        const address = service.address.addresses.find(isOutside);
        if (address !== undefined) yield { namespace: service.namespace, name: service.name, address };
      }
  }

  /** Services with ready endpoints that are names, each with the first one. */
  *fqdnEndpoints(): Iterable<NamespacedName & { readonly target: string }> {
    const { words } = this.#writer.space.views;
    for (const namespace of this.#writer.namespaces())
      for (const entry of this.#writer.listServices(namespace)) {
        if (((words[(entry + SERVICE.FLAGS) >> 2] ?? 0) & SERVICE_FLAG.TARGETS) === 0) continue;
        const [first] = mergeTargets(this.#views.targets(entry));
        if (first !== undefined) yield { ...this.#views.readNamespacedName(entry), target: first.target };
      }
  }

  #exists(namespace: number): boolean {
    const { words } = this.#writer.space.views;
    const hasObject = ((words[(namespace + NAMESPACE.FLAGS) >> 2] ?? 0) & NAMESPACE_FLAG.HAS_OBJECT) !== 0;
    return hasObject || (words[(namespace + NAMESPACE.FIRST) >> 2] ?? 0) !== 0;
  }

  #isTerminating(section: number, index: number): boolean {
    const { octets, words } = this.#writer.space.views;
    const states = words[(section + SECTION.STATES) >> 2] ?? 0;
    return states !== 0 && ((octets[section + states + index] ?? 0) & ENDPOINT_STATE.TERMINATING) !== 0;
  }

  #findServiceEntry(namespace: string, name: string): number {
    const key = serviceKey(namespace, name);
    return key === undefined ? 0 : this.#writer.findService(key);
  }
}
