/**
 * Questions with a label `*`, which matches every child of a node in the tree of kube-dns: every namespace, service, or
 * key of an entry. It does not match labels of ports and protocols.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { ZoneNode } from '@portolan/kernel/zone/node.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import type { ClusterDirectory, ServiceView } from '../dialect.ts';
import { type KubeDnsEntry, manyEntriesNode } from './entry.ts';
import { entriesBelow, externalEntry, serviceEntries } from './service-entries.ts';

/** Services visited for one question. More would not fit into an answer or be worth the time. */
const MAX_SERVICES = 1000;

const ANY = '*';

/** @param labels those left of `svc`, or of a `*` in its place */
export function wildcardNode(
  name: NameKey,
  labels: readonly string[],
  directory: ClusterDirectory,
): ZoneNode | undefined {
  const namespace = labels.at(-1);
  if (namespace === undefined || labels.length > 5) return undefined;
  const entries: KubeDnsEntry[] = [];
  let ttl = 0;
  let visited = 0;
  for (const view of matchingServices(labels, namespace, directory)) {
    visited += 1;
    if (visited > MAX_SERVICES) break;
    ttl = view.ttl;
    entries.push(...matchingEntries(view, labels));
  }
  return entries.length === 0 ? undefined : manyEntriesNode(name, entries, ttl, OUTCOME.namespace);
}

function* matchingServices(
  labels: readonly string[],
  namespace: string,
  directory: ClusterDirectory,
): Iterable<ServiceView> {
  const service = labels.at(-2) ?? ANY;
  // `svc` has no entries of its own.
  if (labels.length === 1 && namespace === ANY) return;
  const namespaces = namespace === ANY ? directory.namespaces() : [namespace];
  for (const one of namespaces) {
    // A namespace's own entries are its external names.
    const every = labels.length <= 2 ? directory.externalNames(one) : directory.services(one);
    for (const name of service === ANY ? every : [service]) {
      const view = directory.view(one, name);
      if (view !== undefined) yield view;
    }
  }
}

function matchingEntries(view: ServiceView, labels: readonly string[]): readonly KubeDnsEntry[] {
  const entries = serviceEntries(view);
  const below = labels.slice(0, -2);
  if (below.length > 0) return entries === undefined ? [] : entriesBelow(entries, below, view.name);
  if (entries !== undefined) return entries.own;
  return namespaceEntries(view);
}

/** The entry of an ExternalName, as a list. */
export function namespaceEntries(view: ServiceView): readonly KubeDnsEntry[] {
  const { address } = view.service;
  const entry = address.kind === 'externalName' ? externalEntry(view, address.name) : undefined;
  return entry === undefined ? [] : [entry];
}
