/**
 * How clients outside the cluster reach its services: the external IPs and the addresses of load balancers, for `k8s_external`.
 *
 * They are kept beside the records of the cluster, and only if a plugin of the block asks for them.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { type ExternalTarget, externalTarget } from '../../names/external-target.ts';
import { keyOfObject, type ObjectKey, type ObjectSink, type ServiceObject } from '../../objects/objects.ts';
import type { Cluster } from '../../publish/cluster.ts';
import type { NamespacedName } from '../../records/record-views.ts';

/** An address or a name at which a service is reached. */
export type ExternalHost = Exclude<ExternalTarget, { kind: 'unusable' }>;

interface Reached extends NamespacedName {
  readonly hosts: readonly ExternalHost[];
  /** The fields as they are written. */
  readonly texts: string;
  /** The list that it is from. */
  list: number;
}

const NO_HOSTS: readonly ExternalHost[] = [];

export class ExternalServices {
  readonly #cluster: Cluster;
  readonly #clock: Clock;
  readonly #services = new Map<ObjectKey, Reached>();
  /** The services of each address. */
  readonly #owners = new Map<string, Set<ObjectKey>>();
  readonly #listeners = new Set<() => void>();
  #list = 0;
  #isListed = false;
  #serial = 0;
  #changedAt = 0;
  /** The cluster's generation when the serial number of its endpoints was told last. */
  #generation: number | undefined;

  constructor(cluster: Cluster, clock: Clock) {
    this.#cluster = cluster;
    this.#clock = clock;
  }

  /** Whether services have been listed, so that a missing one may be denied. */
  get isListed(): boolean {
    return this.#isListed;
  }

  /** @param run called after each change from the end of the first list on. @returns a function that ends this */
  onChange(run: () => void): () => void {
    this.#listeners.add(run);
    return () => void this.#listeners.delete(run);
  }

  /** @returns a sink that passes on all changes */
  observe(sink: ObjectSink<ServiceObject>): ObjectSink<ServiceObject> {
    return {
      ...(sink.takesDrafts === true ? { takesDrafts: true } : {}),
      listStarted: () => {
        this.#list += 1;
        sink.listStarted();
      },
      upsert: (object) => {
        const before = this.#cluster.generation;
        sink.upsert(object);
        this.#put(object, this.#cluster.generation !== before);
      },
      listCompleted: () => {
        sink.listCompleted();
        this.#sweep();
      },
      remove: (key) => {
        sink.remove(key);
        if (this.#remove(key)) this.#changed();
      },
      count: () => sink.count(),
    };
  }

  findHosts(namespace: string, name: string): readonly ExternalHost[] {
    return this.#services.get(`${namespace}/${name}`)?.hosts ?? NO_HOSTS;
  }

  /** The services that are reached at an address. @param address canonical */
  servicesAt(address: string): readonly NamespacedName[] {
    return [...(this.#owners.get(address) ?? [])].flatMap((key) => this.#services.get(key) ?? []);
  }

  services(): Iterable<NamespacedName> {
    return this.#services.values();
  }

  /** The time of the last change after the first list in seconds; 0: there was none. */
  get changed(): number {
    return this.#changedAt;
  }

  /**
   * The serial number of a zone of these services: the time of the last change in seconds, at least one more than before.
   *
   * @param hasEndpoints whether the zone has names of endpoints too
   * @returns 0 before the first list
   */
  serial(hasEndpoints: boolean): number {
    const { generation } = this.#cluster;
    if (hasEndpoints && this.#isListed && this.#generation !== generation) {
      if (this.#generation !== undefined) this.#advance();
      this.#generation = generation;
    }
    return this.#serial;
  }

  #put(object: ServiceObject, isChanged: boolean): void {
    const key = keyOfObject(object);
    const { external = [] } = object;
    const before = this.#services.get(key);
    const texts = external.join(' ');
    if (before !== undefined) before.list = this.#list;
    if (texts === (before?.texts ?? '')) {
      if (isChanged && before !== undefined) this.#changed();
      return;
    }
    this.#remove(key);
    if (texts !== '') this.#add(key, object, texts);
    this.#changed();
  }

  #add(key: ObjectKey, { namespace, name, external = [] }: ServiceObject, texts: string): void {
    const hosts = external.flatMap((text) => {
      const target = externalTarget(text);
      return target.kind === 'unusable' ? [] : target;
    });
    this.#services.set(key, { namespace, name, hosts, texts, list: this.#list });
    for (const host of hosts) {
      if (host.kind === 'name') continue;
      const owners = this.#owners.get(host.address) ?? new Set();
      this.#owners.set(host.address, owners.add(key));
    }
  }

  #remove(key: ObjectKey): boolean {
    const service = this.#services.get(key);
    if (service === undefined) return false;
    this.#services.delete(key);
    for (const host of service.hosts) {
      if (host.kind === 'name') continue;
      const owners = this.#owners.get(host.address);
      owners?.delete(key);
      if (owners?.size === 0) this.#owners.delete(host.address);
    }
    return true;
  }

  /** Removes what the list lacks. */
  #sweep(): void {
    const gone = [...this.#services].filter(([, { list }]) => list !== this.#list);
    for (const [key] of gone) this.#remove(key);
    const isFirst = !this.#isListed;
    this.#isListed = true;
    if (isFirst) this.#advance();
    else if (gone.length > 0) this.#changed();
  }

  #changed(): void {
    if (!this.#isListed) return;
    this.#advance();
    this.#changedAt = this.#serial;
    for (const run of this.#listeners) run();
  }

  #advance(): void {
    this.#serial = Math.max(this.#serial + 1, Math.floor(this.#clock.now() / 1000)) >>> 0;
  }
}
