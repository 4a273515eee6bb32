/**
 * The topology zones of ready endpoints, for names that select by zone. Only clusters with such names keep them.
 */
import { type EndpointsObject, keyOfObject, type ObjectKey, type ObjectSink } from '../objects/objects.ts';
import { canonicalAddress } from './endpoints.ts';

/** An object with endpoints in zones. */
interface ZonedSlice {
  readonly service: string;
  /** By canonical address, in lower case. */
  readonly zones: ReadonlyMap<string, string>;
}

export class EndpointZones implements ObjectSink<EndpointsObject> {
  readonly #slices = new Map<ObjectKey, ZonedSlice>();
  /** The objects of a service, by `namespace/name`. */
  readonly #ofService = new Map<string, Set<ObjectKey>>();
  #listed: Set<ObjectKey> | undefined;
  /** Called after each change of a zone. */
  changed: () => void = () => {};

  /** The canonical addresses of a service's ready endpoints in a zone. @param zone in lower case */
  addressesIn(namespace: string, service: string, zone: string): ReadonlySet<string> {
    const addresses = new Set<string>();
    for (const key of this.#ofService.get(`${namespace}/${service}`) ?? [])
      for (const [address, of] of this.#slices.get(key)?.zones ?? []) if (of === zone) addresses.add(address);
    return addresses;
  }

  listStarted(): void {
    this.#listed = new Set();
  }

  upsert(object: EndpointsObject): void {
    const key = keyOfObject(object);
    this.#listed?.add(key);
    const zones = collectZones(object);
    const service = `${object.namespace}/${object.service}`;
    const before = this.#slices.get(key);
    if (before?.service === service && areEqual(before.zones, zones)) return;
    if (before === undefined && zones.size === 0) return;
    this.#forget(key);
    if (zones.size > 0) {
      this.#slices.set(key, { service, zones });
      const keys = this.#ofService.get(service) ?? new Set();
      this.#ofService.set(service, keys.add(key));
    }
    this.changed();
  }

  listCompleted(): void {
    const listed = this.#listed;
    this.#listed = undefined;
    for (const key of this.#slices.keys()) if (listed?.has(key) !== true) this.remove(key);
  }

  remove(key: ObjectKey): void {
    if (this.#forget(key)) this.changed();
  }

  count(): number {
    return this.#slices.size;
  }

  #forget(key: ObjectKey): boolean {
    const slice = this.#slices.get(key);
    if (slice === undefined) return false;
    this.#slices.delete(key);
    const keys = this.#ofService.get(slice.service);
    keys?.delete(key);
    if (keys?.size === 0) this.#ofService.delete(slice.service);
    return true;
  }
}

function collectZones({ groups }: EndpointsObject): ReadonlyMap<string, string> {
  const zones = new Map<string, string>();
  for (const { addresses } of groups)
    for (const { address: text, zone } of addresses) {
      const address = zone === undefined ? undefined : canonicalAddress(text);
      if (address !== undefined && zone !== undefined) zones.set(address, zone.toLowerCase());
    }
  return zones;
}

function areEqual(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([address, zone]) => other.get(address) === zone);
}
