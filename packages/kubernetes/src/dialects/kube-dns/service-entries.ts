/**
 * The entries of a service, one function per kind of service.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { NamedTarget } from '../../names/endpoint-targets.ts';
import { canonicalAddresses, type Endpoint } from '../../names/endpoints.ts';
import { externalTarget } from '../../names/external-target.ts';
import { groupByLabel, type LabelGroup } from '../../names/label-groups.ts';
import { nameBelow } from '../../names/labels.ts';
import { groupByPort } from '../../names/ports.ts';
import { addressSets, namedSets } from '../../names/record-sets.ts';
import type { ServiceView } from '../dialect.ts';
import type { Host, KubeDnsEntry } from './entry.ts';

export interface ServiceEntries {
  /** Right below the service. */
  readonly own: readonly KubeDnsEntry[];
  /** By the two labels of each named port. */
  readonly ports: ReadonlyMap<string, readonly KubeDnsEntry[]>;
}

/** A service with cluster IPs: one entry per address, and one per address at each port. */
export function portalEntries(view: ServiceView, clusterIPs: readonly string[]): ServiceEntries {
  const { name, ttl } = view;
  const ips = canonicalAddresses(clusterIPs);
  const own = ips.flatMap((ip) => {
    const entryName = nameBelow(hashLabel(ip), name);
    return entryName === undefined ? [] : [addressEntry(entryName, [ip], ttl)];
  });
  const additional = namedSets(name, addressSets(ips, ttl));
  const host: Host = { kind: 'own', target: name, addresses: ips, additional };
  const ports = new Map<string, readonly KubeDnsEntry[]>();
  for (const [labels, group] of groupByPort(view.service.ports.map((port) => ({ port })))) {
    const entries = group.flatMap(({ port }) =>
      ips.flatMap((ip) => entryBelow(`${hashLabel(ip)}.${labels}`, name, host, port.port)),
    );
    if (entries.length > 0) ports.set(labels, entries);
  }
  return { own, ports };
}

/** The entries of endpoints that share a label. */
interface EndpointEntries {
  readonly own: KubeDnsEntry;
  /** With the labels of their ports. */
  readonly ports: readonly (readonly [labels: string, entry: KubeDnsEntry])[];
}

/** A hostname, or a hash of the address. */
const endpointLabel = ({ address, hostname }: Endpoint): string => hostname ?? hashLabel(address);

/** A headless service: one entry per hostname, or per address without one, and one of each at each port. */
export function headlessEntries(view: ServiceView): ServiceEntries {
  const own: KubeDnsEntry[] = [];
  const ports = new Map<string, KubeDnsEntry[]>();
  for (const group of groupByLabel(view.endpoints, endpointLabel)) {
    const made = endpointEntries(group, view);
    if (made === undefined) continue;
    own.push(made.own);
    for (const [labels, entry] of made.ports) {
      const others = ports.get(labels);
      if (others === undefined) ports.set(labels, [entry]);
      else others.push(entry);
    }
  }
  for (const target of view.targets) addTarget(target, view.name, own, ports);
  return { own, ports };
}

/** Adds the entries of an endpoint that is a name. */
function addTarget(
  { target, label = hashLabel(target), ports: numbers }: NamedTarget,
  service: NameKey,
  own: KubeDnsEntry[],
  ports: Map<string, KubeDnsEntry[]>,
): void {
  const host: Host = { kind: 'name', target };
  own.push(...entryBelow(label, service, host, 0));
  for (const [labels, group] of groupByPort(numbers.map((port) => ({ port }))))
    for (const { port } of group) {
      const entries = entryBelow(`${label}.${labels}`, service, host, port.port);
      ports.set(labels, [...(ports.get(labels) ?? []), ...entries]);
    }
}

function endpointEntries({ label, endpoints }: LabelGroup, view: ServiceView): EndpointEntries | undefined {
  const name = nameBelow(label, view.name);
  if (name === undefined) return undefined;
  const addresses = [...new Set(endpoints.map(({ address }) => address))];
  const own = addressEntry(name, addresses, view.ttl);
  return { own, ports: portEntries(view.name, label, own, endpoints) };
}

function portEntries(
  service: NameKey,
  label: string,
  { name, host: of }: AddressEntry,
  endpoints: readonly Endpoint[],
): EndpointEntries['ports'] {
  const host: Host = { kind: 'own', target: name, addresses: of.addresses, additional: of.additional };
  const named = endpoints.flatMap((endpoint) => endpoint.ports.map((port) => ({ port })));
  return [...groupByPort(named)].flatMap(([labels, group]) =>
    [...new Set(group.map(({ port }) => port.port))].flatMap((number) =>
      entryBelow(`${label}.${labels}`, service, host, number).map((entry) => [labels, entry] as const),
    ),
  );
}

/** An entry that is not for a specific port. */
type AddressEntry = KubeDnsEntry & { readonly host: Extract<Host, { kind: 'addresses' }> };

function addressEntry(name: NameKey, addresses: readonly string[], ttl: number): AddressEntry {
  const additional = namedSets(name, addressSets(addresses, ttl));
  return { name, host: { kind: 'addresses', addresses, additional }, port: 0 };
}

/** An ExternalName: the service itself is an entry of its namespace. */
export function externalEntry(view: ServiceView, externalName: string): KubeDnsEntry | undefined {
  const target = externalTarget(externalName);
  switch (target.kind) {
    case 'address':
      return addressEntry(view.name, [target.address], view.ttl);
    case 'name':
      return { name: view.name, host: { kind: 'name', target: target.name }, port: 0 };
    case 'unusable':
      return undefined;
  }
}

/** The entry, as a list: empty if its name would be too long. */
function entryBelow(labels: string, service: NameKey, host: Host, port: number): KubeDnsEntry[] {
  const name = nameBelow(labels, service);
  return name === undefined ? [] : [{ name, host, port }];
}

/** The entries of a service of any kind except ExternalName. */
export function serviceEntries(view: ServiceView): ServiceEntries | undefined {
  const { address } = view.service;
  if (address.kind === 'externalName') return undefined;
  return address.kind === 'headless' ? headlessEntries(view) : portalEntries(view, address.addresses);
}

/**
 * The entries that labels below a service select; `*` selects all of one level.
 *
 * @param labels left of the service's name, one to three labels
 */
export function entriesBelow(
  entries: ServiceEntries,
  labels: readonly string[],
  service: NameKey,
): readonly KubeDnsEntry[] {
  if (labels.length === 1) return withKey(entries.own, labels, service);
  if (labels.length === 2) return entries.ports.get(labels.join('.')) ?? [];
  const [key = '', ...port] = labels;
  if (port.length !== 2) return [];
  return withKey(entries.ports.get(port.join('.')) ?? [], [key, ...port], service);
}

function withKey(
  entries: readonly KubeDnsEntry[],
  labels: readonly string[],
  service: NameKey,
): readonly KubeDnsEntry[] {
  if (labels[0] === '*') return entries;
  const name = `${labels.join('.')}.${service}`;
  return entries.filter((entry) => entry.name === name);
}

/**
 * The label for an address without a hostname: the FNV-1a hash of the record as Go prints it, in hexadecimal, encoded in hexadecimal
 * a second time.
 *
 * @param address canonical
 */
function hashLabel(address: string): string {
  // Address, port, priority, weight, text, mail, TTL, stripped labels, group, key.
  const hash = fnv1a(`&{${address} 0 10 10  false 30 0  }`);
  return Buffer.from(hash.toString(16), 'latin1').toString('hex');
}

/** The 32-bit FNV-1a hash of ASCII text. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
