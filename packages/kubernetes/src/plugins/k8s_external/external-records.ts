/**
 * The records of the names in an external zone.
 */
import { tryParseName } from '@portolan/dns/name.ts';
import {
  type AbsoluteName,
  CLASS,
  type NameKey,
  type RecordData,
  type ResourceRecord,
} from '@portolan/dns/types.ts';
import type { ReachedPort } from './reached-services.ts';

/** Seconds. */
export interface ExternalTtls {
  /** Of addresses, PTR, NS and SOA records: the option of `k8s_external`. */
  readonly own: number;
  /** Of CNAME and SRV records: the option of `kubernetes`. */
  readonly cluster: number;
}

export interface ServiceRecords {
  readonly records: readonly ResourceRecord[];
  /** Addresses of the targets in the zone. */
  readonly additionals: readonly ResourceRecord[];
  /** Targets outside, whose addresses others know. */
  readonly outside: readonly AbsoluteName[];
}

export const isIpv6 = (address: string): boolean => address.includes(':');

export function makeRecord(name: AbsoluteName, ttl: number, data: RecordData): ResourceRecord {
  return { name, class: CLASS.IN, ttl, data };
}

export function addressRecord(name: AbsoluteName, ttl: number, address: string): ResourceRecord {
  return makeRecord(name, ttl, { kind: isIpv6(address) ? 'AAAA' : 'A', address });
}

/** A name below a zone; undefined if it would be too long. */
export function nameIn(labels: string, zone: NameKey): AbsoluteName | undefined {
  return tryParseName(zone === '.' ? `${labels}.` : `${labels}.${zone}`);
}

/** The addresses of one family, each once. */
export function addressRecords(
  name: AbsoluteName,
  ports: readonly ReachedPort[],
  kind: 'A' | 'AAAA',
  { own }: ExternalTtls,
): readonly ResourceRecord[] {
  const addresses = ports.flatMap(({ host }) => (host.kind === 'address' ? host.address : []));
  return [...new Set(addresses)]
    .filter((address) => isIpv6(address) === (kind === 'AAAA'))
    .map((address) => addressRecord(name, own, address));
}

/**
 * The aliases of a name.
 *
 * @param showsAll all of them, beside addresses too, as in CoreDNS; otherwise one at most, and only alone (RFC 2181 section 10.1)
 */
export function aliasRecords(
  name: AbsoluteName,
  ports: readonly ReachedPort[],
  { cluster }: ExternalTtls,
  showsAll: boolean,
): readonly (ResourceRecord & { readonly data: { readonly target: AbsoluteName } })[] {
  const targets = [...new Set(ports.flatMap(({ host }) => (host.kind === 'name' ? host.name : [])))];
  const shown = showsAll
    ? targets
    : ports.some(({ host }) => host.kind === 'address')
      ? []
      : targets.slice(0, 1);
  return shown.map((target) => ({
    name,
    class: CLASS.IN,
    ttl: cluster,
    data: { kind: 'CNAME', target },
  }));
}

/** The service records of a name. Each host counts for the weights, as in CoreDNS. */
export function serviceRecords(
  name: AbsoluteName,
  zone: NameKey,
  ports: readonly ReachedPort[],
  { own, cluster }: ExternalTtls,
): ServiceRecords {
  const weight = Math.max(1, Math.floor((100 / (100 * ports.length)) * 100));
  const records = new Map<string, ResourceRecord>();
  const additionals = new Map<string, ResourceRecord>();
  const outside = new Set<AbsoluteName>();
  for (const { host, port, owner } of ports) {
    const target = host.kind === 'name' ? host.name : nameIn(owner, zone);
    if (port === undefined || target === undefined) continue;
    const data = { kind: 'SRV', priority: 0, weight, port: port.port, target } as const;
    records.set(`${target} ${port.port}`, makeRecord(name, cluster, data));
    if (host.kind === 'name') outside.add(host.name);
    else additionals.set(`${target} ${host.address}`, addressRecord(target, own, host.address));
  }
  return {
    records: [...records.values()],
    additionals: [...additionals.values()],
    outside: [...outside],
  };
}
