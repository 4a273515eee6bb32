/**
 * Merges all manifests into one cluster: each object once, with implied namespaces and addresses for services.
 *
 * Each merge starts from scratch; only the made-up addresses are kept between merges.
 */
import { type ClusterObject, keyOfObject, type ObjectKey, type ServiceObject } from '../objects/objects.ts';
import type { MadeUpAddresses } from './made-up-addresses.ts';
import type { ManifestObject } from './parse-manifest.ts';

/** A message for the operator, reported once. */
export interface Remark {
  readonly message: string;
  readonly file: string;
  readonly line: number;
  /** The object's kind and key. */
  readonly object: string;
  /** The detail of the message: the other place, the address. */
  readonly detail: string;
}

export interface Merged {
  /** By kind and key. */
  readonly objects: ReadonlyMap<string, ClusterObject>;
  readonly remarks: readonly Remark[];
}

/** @param found in the order of files and lines: of two objects with the same kind and key the first counts */
export function mergeManifests(found: Iterable<ManifestObject>, addresses: MadeUpAddresses): Merged {
  const remarks: Remark[] = [];
  const first = keepFirst(found, remarks);
  const services = new Set<ObjectKey>();
  const claimed = new Set<string>();
  for (const { object } of first.values()) {
    if (object.kind !== 'Service') continue;
    services.add(keyOfObject(object));
    if (object.address.kind === 'clusterIPs')
      for (const address of object.address.addresses) claimed.add(address);
  }
  addresses.keepOnly(services, claimed);
  const objects = new Map<string, ClusterObject>();
  for (const [id, { object }] of first) {
    const namespace = object.kind === 'Namespace' ? object.name : object.namespace;
    objects.set(`Namespace ${namespace}`, { kind: 'Namespace', name: namespace });
    objects.set(id, object);
  }
  for (const [id, manifest] of first) {
    const { object } = manifest;
    if (object.kind === 'Service' && lacksAddress(object))
      objects.set(id, withAddress(object, manifest, addresses, claimed, remarks));
  }
  return { objects, remarks };
}

function keepFirst(found: Iterable<ManifestObject>, remarks: Remark[]): Map<string, ManifestObject> {
  const first = new Map<string, ManifestObject>();
  for (const manifest of found) {
    const id = `${manifest.object.kind} ${keyOfObject(manifest.object)}`;
    const earlier = first.get(id);
    if (earlier === undefined) first.set(id, manifest);
    // A namespace may be declared in several files.
    else if (manifest.object.kind !== 'Namespace') {
      const detail = `${earlier.file}:${earlier.line}`;
      const { file, line } = manifest;
      remarks.push({ message: 'object stands twice, the first is served', file, line, object: id, detail });
    }
  }
  return first;
}

function lacksAddress({ address }: ServiceObject): boolean {
  return address.kind === 'clusterIPs' && address.addresses.length === 0;
}

function withAddress(
  service: ServiceObject,
  { file, line, families }: ManifestObject,
  addresses: MadeUpAddresses,
  claimed: ReadonlySet<string>,
  remarks: Remark[],
): ServiceObject {
  const key = keyOfObject(service);
  const madeUp = families.map((family) => addresses.allocateAddress(key, family, claimed));
  const message = 'service without clusterIP, an address is made up from its name';
  remarks.push({ message, file, line, object: `Service ${key}`, detail: madeUp.join(', ') });
  return { ...service, address: { kind: 'clusterIPs', addresses: madeUp } };
}
