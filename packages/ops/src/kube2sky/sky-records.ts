/**
 * The records of SkyDNS for the objects of a cluster, with the keys and values of the original kube2sky.
 *
 * A Service has one record with its address, a headless Service one for each ready address, a pod one for its address. Each key
 * ends with a hash of the value. Named ports have records that point to the name: `_tcp/_http` below it.
 */
import type {
  EndpointsObject,
  PodObject,
  ServiceObject,
  ServicePort,
} from '@portolan/kubernetes/objects/objects.ts';

export interface SkyObjects {
  readonly services: Iterable<ServiceObject>;
  readonly endpoints: Iterable<EndpointsObject>;
  readonly pods: Iterable<PodObject>;
}

/** The subdomains in etcd that belong to kube2sky. */
export const SUBDOMAINS = ['svc', 'pod'] as const;

/** @param domain with its final dot @returns values by key */
export function deriveRecords(objects: SkyObjects, domain: string): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  const endpoints = groupByService(objects.endpoints);
  for (const service of objects.services) {
    const name = `${service.name}.${service.namespace}.svc.${domain}`;
    switch (service.address.kind) {
      case 'clusterIPs': {
        // Only one address, as in the original.
        const [address] = service.address.addresses;
        if (address !== undefined) addAddress(records, name, address, service.ports, name);
        break;
      }
      case 'headless':
        for (const { groups } of endpoints.get(`${service.namespace}/${service.name}`) ?? [])
          for (const { addresses, ports } of groups)
            for (const { address } of addresses) addAddress(records, name, address, ports);
        break;
      case 'externalName':
        break;
    }
  }
  for (const { namespace, addresses } of objects.pods)
    for (const address of addresses.slice(0, 1))
      addAddress(records, `${address.replaceAll(/[.:]/g, '-')}.${namespace}.pod.${domain}`, address, []);
  return records;
}

function groupByService(all: Iterable<EndpointsObject>): ReadonlyMap<string, readonly EndpointsObject[]> {
  const groups = new Map<string, EndpointsObject[]>();
  for (const each of all) {
    const key = `${each.namespace}/${each.service}`;
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push(each);
  }
  return groups;
}

/** @param target of the records of ports; default: the record of the address itself */
function addAddress(
  records: Map<string, string>,
  name: string,
  address: string,
  ports: readonly ServicePort[],
  target?: string,
): void {
  const value = writeRecord(address, 0);
  const label = hashText(value);
  const own = `${label}.${name}`;
  records.set(toEtcdKey(own), value);
  for (const { name: port, protocol, port: number } of ports) {
    if (port === '') continue;
    const key = toEtcdKey(`${label}._${port}._${protocol.toLowerCase()}.${name}`);
    records.set(key, writeRecord(target ?? own, number));
  }
}

function writeRecord(host: string, port: number): string {
  return JSON.stringify({ host, ...(port === 0 ? {} : { port }), priority: 10, weight: 10, ttl: 30 });
}

/** `/skydns/local/cluster/svc` for `svc.cluster.local.`. */
export function toEtcdKey(name: string): string {
  const labels = name.split('.').filter((label) => label !== '');
  return `/skydns/${labels.reverse().join('/')}`;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** 32-bit FNV-1a, in hexadecimal digits without leading zeros. */
function hashText(text: string): string {
  let hash = FNV_OFFSET;
  for (const octet of Buffer.from(text)) hash = Math.imul(hash ^ octet, FNV_PRIME);
  return (hash >>> 0).toString(16);
}
