/**
 * The entries of a service, one function per kind of it.
 */
import { completeSteps, type Steps } from '../../../base/steps.ts';
import type { NameKey } from '../../../wire/types.ts';
import { canonicalAddresses, type Endpoint } from '../../names/endpoints.ts';
import { externalTarget } from '../../names/external-target.ts';
import { nameBelow } from '../../names/labels.ts';
import { groupByPort } from '../../names/ports.ts';
import type { ServiceView } from '../dialect.ts';
import type { Entry, Host } from './entry.ts';
import { hashLabel } from './hash-label.ts';

export interface ServiceEntries {
  /** Right below the service. */
  readonly own: readonly Entry[];
  /** By the two labels of each named port. */
  readonly ports: ReadonlyMap<string, readonly Entry[]>;
}

/** A service with cluster IPs: one entry per address, and one per address at each port. */
export function portalEntries(view: ServiceView, clusterIPs: readonly string[]): ServiceEntries {
  const ips = canonicalAddresses(clusterIPs);
  const own = ips.flatMap((ip) =>
    entryBelow(hashLabel(ip), view.name, { kind: 'addresses', addresses: [ip] }, 0),
  );
  const host: Host = { kind: 'own', target: view.name, addresses: ips };
  const ports = new Map<string, readonly Entry[]>();
  for (const [labels, group] of groupByPort(view.service.ports.map((port) => ({ port })))) {
    const entries = group.flatMap(({ port }) =>
      ips.flatMap((ip) => entryBelow(`${hashLabel(ip)}.${labels}`, view.name, host, port.port)),
    );
    if (entries.length > 0) ports.set(labels, entries);
  }
  return { own, ports };
}

/** A headless service: one entry per hostname, or per address without one, and one of each at each port. */
/** How many endpoints make a step. */
export const ENDPOINTS_PER_STEP = 100;

export function* headlessEntries(view: ServiceView): Steps<ServiceEntries> {
  const byLabel = new Map<string, Endpoint[]>();
  let count = 0;
  for (const endpoint of view.endpoints) {
    const label = endpoint.hostname ?? hashLabel(endpoint.address);
    const others = byLabel.get(label);
    if (others === undefined) byLabel.set(label, [endpoint]);
    else others.push(endpoint);
    count += 1;
    if (count % ENDPOINTS_PER_STEP === 0) yield;
  }
  const own: Entry[] = [];
  const ports = new Map<string, Entry[]>();
  for (const [label, endpoints] of byLabel) {
    const addresses = [...new Set(endpoints.map(({ address }) => address))];
    const [entry] = entryBelow(label, view.name, { kind: 'addresses', addresses }, 0);
    if (entry === undefined) continue;
    own.push(entry);
    addPorts(ports, view.name, label, { kind: 'own', target: entry.name, addresses }, endpoints);
    count += 1;
    if (count % ENDPOINTS_PER_STEP === 0) yield;
  }
  return { own, ports };
}

function addPorts(
  ports: Map<string, Entry[]>,
  service: NameKey,
  label: string,
  host: Host,
  endpoints: readonly Endpoint[],
): void {
  const named = endpoints.flatMap((endpoint) => endpoint.ports.map((port) => ({ port })));
  for (const [labels, group] of groupByPort(named)) {
    for (const number of new Set(group.map(({ port }) => port.port))) {
      const entries = entryBelow(`${label}.${labels}`, service, host, number);
      const others = ports.get(labels);
      if (others === undefined) ports.set(labels, entries);
      else others.push(...entries);
    }
  }
}

/** An ExternalName: it is an entry itself, of its namespace. */
export function externalEntry(view: ServiceView, externalName: string): Entry | undefined {
  const target = externalTarget(externalName);
  switch (target.kind) {
    case 'address':
      return { name: view.name, host: { kind: 'addresses', addresses: [target.address] }, port: 0 };
    case 'name':
      return { name: view.name, host: { kind: 'name', target: target.name }, port: 0 };
    case 'unusable':
      return undefined;
  }
}

/** The entry, as a list: empty if its name would be too long. */
function entryBelow(labels: string, service: NameKey, host: Host, port: number): Entry[] {
  const name = nameBelow(labels, service);
  return name === undefined ? [] : [{ name, host, port }];
}

/** The entries of a service of whichever kind but ExternalName. */
export function serviceEntries(view: ServiceView): ServiceEntries | undefined {
  const { address } = view.service;
  if (address.kind === 'externalName') return undefined;
  return address.kind === 'headless'
    ? completeSteps(headlessEntries(view))
    : portalEntries(view, address.addresses);
}

/**
 * The entries that labels below a service stand for; `*` for all of one level.
 *
 * @param labels left of the service's name, one to three of them
 */
export function entriesBelow(
  entries: ServiceEntries,
  labels: readonly string[],
  service: NameKey,
): readonly Entry[] {
  if (labels.length === 1) return withKey(entries.own, labels, service);
  if (labels.length === 2) return entries.ports.get(labels.join('.')) ?? [];
  const [key = '', ...port] = labels;
  if (port.length !== 2) return [];
  return withKey(entries.ports.get(port.join('.')) ?? [], [key, ...port], service);
}

function withKey(entries: readonly Entry[], labels: readonly string[], service: NameKey): readonly Entry[] {
  if (labels[0] === '*') return entries;
  const name = `${labels.join('.')}.${service}`;
  return entries.filter((entry) => entry.name === name);
}
