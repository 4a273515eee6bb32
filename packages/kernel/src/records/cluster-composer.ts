/**
 * Composes the answers of a cluster's zone: finds the shape of the name, answers for pods by their addresses, and passes services to the
 * composer of the dialect. Names of hosts files have a composer of their own.
 *
 * It allocates nothing, waits for nothing, and writes no more than the response may carry.
 */
import { TYPE } from '@portolan/dns/types.ts';
import {
  COMPOSED,
  type Composer,
  type KeyOctets,
  type MakeComposer,
  type Sought,
} from '../table/composer.ts';
import type { TableViews } from '../table/memory.ts';
import { ComposerContext, QUESTION_NAME } from './composer-context.ts';
import { Composition } from './composition.ts';
import { CoreDnsComposer } from './coredns-composer.ts';
import { EndpointWriter } from './endpoint-writer.ts';
import { HostComposer } from './host-composer.ts';
import { LIST_FLAG } from './hosts/layout.ts';
import { HttpsComposer } from './https-composer.ts';
import { KubeDnsComposer } from './kube-dns-composer.ts';
import {
  CLUSTER,
  CLUSTER_FLAG,
  NAME_OUTCOME,
  NAMESPACE,
  NAMESPACE_FLAG,
  POD,
  RECORD_KIND,
  SERVICE,
} from './layout.ts';
import { RecordFinder } from './record-finder.ts';
import { ReverseComposer } from './reverse-composer.ts';
import { dashedAddress, NO_ADDRESS, ServiceFields, SVC_OCTETS } from './service-fields.ts';

const SVC = Buffer.from('\x03svc', 'latin1').readInt32LE();
const POD_LABEL = Buffer.from('\x03pod', 'latin1').readInt32LE();
/** The first four octets of the label `arpa`. */
const ARPA = Buffer.from('\x04arp', 'latin1').readInt32LE();
/** Octets of a label, its length included. */
const MAX_LABEL = 64;

export class ClusterComposer implements Composer {
  readonly composition = new Composition();
  readonly #views: TableViews;
  readonly #context: ComposerContext;
  readonly #finder: RecordFinder;
  readonly #service: ServiceFields;
  readonly #coreDns: CoreDnsComposer;
  readonly #kubeDns: KubeDnsComposer;
  readonly #reverse: ReverseComposer;
  readonly #hosts: HostComposer;
  readonly #podKey = new PodKey();
  /** The zone that the answer is from. */
  zone = 0;
  /** The outcome of the answer. */
  outcome = 0;
  /** Leading labels of the name that lie below the last name that exists. */
  missing = 0;
  /** Whether the name lies below a service that exists, with or without names. */
  isBelowObject = false;
  /** Whether the answer is from a service that its source has lost. */
  isStale = false;

  /** @param keys those of the hash */
  constructor(views: TableViews, keys: Int32Array, sought: Sought) {
    this.#views = views;
    this.#finder = new RecordFinder(views, keys);
    this.#context = new ComposerContext(views, this.composition, this.#finder, sought);
    this.#service = new ServiceFields(views);
    const endpoints = new EndpointWriter(this.#context);
    const https = new HttpsComposer(this.#context, endpoints);
    this.#coreDns = new CoreDnsComposer(this.#context, endpoints, https);
    this.#kubeDns = new KubeDnsComposer(this.#context, endpoints, https);
    this.#reverse = new ReverseComposer(this.#context, endpoints, this.#finder);
    this.#hosts = new HostComposer(views, keys, this.#context, this.#reverse.address);
  }

  /**
   * @param cluster the octet of the zone of a cluster, or of a list of hosts files
   * @param publication that has the records, and its salt
   * @param origin where the records will lie in the message
   * @param limit octets that they may have
   * @param packet has the socket address of the client from octet `client` on
   * @returns of `COMPOSED`
   */
  compose(
    cluster: number,
    publication: number,
    salt: number,
    sought: Sought,
    origin: number,
    limit: number,
    rotates: boolean,
    packet: Uint8Array,
    client: number,
  ): number {
    const { atoms } = this.#views;
    this.isStale = false;
    if (((atoms[cluster >> 2] ?? 0) & LIST_FLAG.HOSTS) !== 0)
      return this.#composeHosts(cluster, salt, sought, origin, limit, rotates);
    const shape = atoms[(cluster + CLUSTER.DOMAIN_SHAPE) >> 2] ?? 0;
    const labels = sought.labels - (shape >>> 16);
    const isOfDomain = labels > 1 && this.#isWithin(sought, cluster + CLUSTER.NAMES + SVC_OCTETS, shape);
    if (!isOfDomain && (sought.labels < 6 || !this.#isArpa(sought))) return COMPOSED.NEXT;
    this.#finder.use(publication, salt);
    this.#context.use(cluster, sought, rotates, packet, client);
    this.#context.outcome = NAME_OUTCOME.zone;
    this.isBelowObject = false;
    this.composition.begin(origin, limit, atoms[(cluster + CLUSTER.TTL) >> 2] ?? 0);
    this.zone = atoms[(cluster + CLUSTER.ZONE) >> 2] ?? 0;
    const said = isOfDomain
      ? this.#composeOfDomain(sought, labels)
      : this.#composeReverse(cluster, sought, shape);
    this.outcome = (atoms[(cluster + CLUSTER.OUTCOMES) >> 2] ?? 0) + this.#context.outcome;
    return said;
  }

  #composeHosts(
    list: number,
    salt: number,
    sought: Sought,
    origin: number,
    limit: number,
    rotates: boolean,
  ): number {
    const hosts = this.#hosts;
    const said = hosts.compose(list, salt, sought, origin, limit, rotates);
    this.zone = hosts.zone;
    this.outcome = hosts.outcome;
    this.isBelowObject = false;
    return said;
  }

  /** @param labels left of the domain, at least two */
  #composeOfDomain(sought: Sought, labels: number): number {
    const top = sought.wordAt(sought.labelStarts[labels - 1] ?? 0);
    if (top === SVC) return this.#composeOfServices(sought, labels - 1);
    const { flags } = this.#context;
    if (top !== POD_LABEL || this.#context.isKubeDns) return COMPOSED.NEXT;
    return this.#composePod(sought, labels - 1, flags);
  }

  /** @param below labels left of `svc`, at least one */
  #composeOfServices(sought: Sought, below: number): number {
    const context = this.#context;
    this.missing = below;
    if (below === 1) return this.#composeNamespace(sought, 0);
    const from = sought.labelStarts[below - 2] ?? 0;
    const length = (sought.labelStarts[below] ?? 0) - from;
    const entry = this.#finder.find(RECORD_KIND.SERVICE, sought, from, length, SERVICE.KEY);
    if (entry === 0) return this.#denyService(sought, below);
    const service = this.#service;
    service.load(entry);
    this.isBelowObject = service.kind !== 0;
    this.isStale = service.isStaleAt(below - 2);
    if (!service.isNamed(context.flags)) return this.#denyService(sought, below);
    this.missing = below - 2;
    context.outcome = NAME_OUTCOME.clusterIP;
    return context.isKubeDns
      ? this.#kubeDns.compose(service, below - 2)
      : this.#coreDns.compose(service, below - 2);
  }

  /** The service does not exist. */
  #denyService(sought: Sought, below: number): number {
    // What exists above the name matters only for wildcards.
    if (this.#context.isKubeDns && this.#findNamespace(sought, below - 1) !== 0) this.missing = below - 1;
    return COMPOSED.NXDOMAIN;
  }

  /** @param label the number of the namespace's label */
  #composeNamespace(sought: Sought, label: number): number {
    const entry = this.#findNamespace(sought, label);
    if (entry === 0) return COMPOSED.NXDOMAIN;
    const context = this.#context;
    context.outcome = NAME_OUTCOME.namespace;
    const { atoms } = this.#views;
    // kube-dns has records at a namespace with external names.
    const hasRecords = context.isKubeDns && (atoms[(entry + NAMESPACE.EXTERNALS) >> 2] ?? 0) > 0;
    return hasRecords ? COMPOSED.ASK : COMPOSED.NODATA;
  }

  /** The entry of a namespace that exists, or 0. */
  #findNamespace(sought: Sought, label: number): number {
    const { atoms } = this.#views;
    const from = sought.labelStarts[label] ?? 0;
    const length = (sought.labelStarts[label + 1] ?? 0) - from;
    const entry = this.#finder.find(RECORD_KIND.NAMESPACE, sought, from, length, NAMESPACE.KEY);
    if (entry === 0) return 0;
    const hasObject = ((atoms[(entry + NAMESPACE.FLAGS) >> 2] ?? 0) & NAMESPACE_FLAG.HAS_OBJECT) !== 0;
    const counts = hasObject && (this.#context.flags & CLUSTER_FLAG.USES_NAMESPACES) !== 0;
    return counts || (atoms[(entry + NAMESPACE.LIVE) >> 2] ?? 0) > 0 ? entry : 0;
  }

  /** @param below labels left of `pod`, at least one */
  #composePod(sought: Sought, below: number, flags: number): number {
    const context = this.#context;
    this.missing = below;
    if ((flags & CLUSTER_FLAG.PODS) === 0 || this.#findNamespace(sought, below - 1) === 0)
      return COMPOSED.NXDOMAIN;
    this.missing = below - 1;
    context.outcome = NAME_OUTCOME.pod;
    if (below === 1) return COMPOSED.NODATA;
    if (below > 2) return COMPOSED.NXDOMAIN;
    const address = dashedAddress(sought.name, 0);
    // The chain reads IPv6 addresses.
    if (address === NO_ADDRESS) return COMPOSED.ASK;
    if ((flags & CLUSTER_FLAG.PODS_VERIFIED) !== 0) {
      const key = this.#podKey;
      key.set(sought.name, sought.labelStarts[1] ?? 0, address);
      if (this.#finder.find(RECORD_KIND.POD, key, 0, key.length, POD.KEY) === 0) return COMPOSED.NXDOMAIN;
    }
    return this.#composeAddressOfPod(sought, address);
  }

  #composeAddressOfPod(sought: Sought, address: number): number {
    const context = this.#context;
    const { composition } = this;
    if (sought.type === TYPE.A && !context.lacksAddresses(TYPE.A)) {
      composition.addAddress(address);
      return COMPOSED.MADE;
    }
    if (sought.type !== TYPE.SRV || context.lacks(CLUSTER_FLAG.WITHOUT_SRV)) return COMPOSED.NODATA;
    if (composition.addService(0, 100, 0, sought.nameLength))
      composition.append(sought.name, 0, sought.nameLength);
    if (!context.lacksAddresses(TYPE.A)) composition.addAdditional(QUESTION_NAME, address);
    return COMPOSED.MADE;
  }

  /** Whether a name is within a zone. @param at the octet of the zone's name; @param shape its octets | its labels << 16 */
  #isWithin(sought: Sought, at: number, shape: number): boolean {
    const { atoms } = this.#views;
    const from = sought.labelStarts[sought.labels - (shape >>> 16)] ?? 0;
    const length = shape & 0xffff;
    if (sought.nameLength - from !== length) return false;
    // Both are zero behind their ends.
    for (let index = 0; index < length; index += 4)
      if (atoms[(at + index) >> 2] !== sought.wordAt(from + index)) return false;
    return true;
  }

  #isArpa(sought: Sought): boolean {
    return sought.wordAt(sought.labelStarts[sought.labels - 1] ?? 0) === ARPA;
  }

  #composeReverse(cluster: number, sought: Sought, domain: number): number {
    const { atoms } = this.#views;
    let at = cluster + CLUSTER.NAMES + SVC_OCTETS + (((domain & 0xffff) + 3) & ~3);
    for (let left = atoms[(cluster + CLUSTER.REVERSE_ZONES) >> 2] ?? 0; left > 0; left--) {
      const zone = atoms[at >> 2] ?? 0;
      const shape = atoms[(at + 4) >> 2] ?? 0;
      if (sought.labels >= shape >>> 16 && this.#isWithin(sought, at + 8, shape)) {
        this.zone = zone;
        return this.#reverse.address.read(sought) ? this.#reverse.compose() : COMPOSED.NEXT;
      }
      at += 8 + (((shape & 0xffff) + 3) & ~3);
    }
    return COMPOSED.NEXT;
  }
}

/** The label of a namespace and the octets of an address, as a key. */
class PodKey implements KeyOctets {
  readonly #octets = new Uint8Array(MAX_LABEL + 8);
  readonly #view = new DataView(this.#octets.buffer);
  length = 0;

  wordAt(at: number): number {
    return this.#view.getInt32(at, true);
  }

  /** @param label where the label of the namespace begins in `name` */
  set(name: Uint8Array, label: number, address: number): void {
    const length = 1 + (name[label] ?? 0);
    for (let index = 0; index < length; index++) this.#octets[index] = name[label + index] ?? 0;
    this.#view.setInt32(length, address | 0);
    this.length = length + 4;
  }
}

/** The composer of a reader's answers for the names of clusters and of hosts files. */
export const composeRecords: MakeComposer = (views, keys, sought) => new ClusterComposer(views, keys, sought);
