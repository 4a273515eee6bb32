/**
 * Names and answers as kube-dns has them.
 */
import { type NameKey, TYPE } from '@portolan/dns/types.ts';
import { COMPLETE, type ZoneNode } from '@portolan/kernel/zone/node.ts';
import { recordSet } from '@portolan/kernel/zone/record-set.ts';
import type { Zone } from '@portolan/kernel/zone/zone.ts';
import { OUTCOME } from '../../names/outcomes.ts';
import { ipv4OfPod } from '../../names/pods.ts';
import { addressSets } from '../../names/record-sets.ts';
import type { ClusterDirectory, Dialect, ZoneFacts } from '../dialect.ts';
import { deriveService } from './derive.ts';
import { entriesNode, manyEntriesNode } from './entry.ts';
import { entriesBelow, serviceEntries } from './service-entries.ts';
import { namespaceEntries, wildcardNode } from './wildcards.ts';

/** Seconds: the TTL of the SOA record at the apex. */
const SOA_TTL = 3600;
const NEGATIVE_TTL = 60;
/** kube-dns counts its serial in whole hours. */
const HOUR = 3600;

function zone(apex: NameKey, view: ZoneFacts): Zone {
  const soa = {
    kind: 'SOA',
    // A key: labels below an apex, whose length was checked.
    primary: `ns.dns.${apex}` as NameKey,
    mailbox: `hostmaster.${apex}` as NameKey,
    serial: view.serial - (view.serial % HOUR),
    refresh: 28_800,
    retry: 7200,
    expire: 604_800,
    minimum: NEGATIVE_TTL,
  } as const;
  return { apex, soa, negativeTtl: NEGATIVE_TTL, authoritativeNxdomain: false };
}

function apexNodes({ apex, soa }: Zone, view: ZoneFacts): readonly ZoneNode[] {
  // In the reverse zones we are authoritative only for the names that we hold.
  if (apex !== view.domain) return [];
  const plain = { sets: [], alias: undefined, below: COMPLETE, outcome: OUTCOME.zone };
  return [
    { ...plain, name: apex, sets: [recordSet(TYPE.SOA, SOA_TTL, [soa])] },
    // A key: labels below an apex, whose length was checked.
    { ...plain, name: `svc.${apex}` as NameKey },
    { ...plain, name: `pod.${apex}` as NameKey, below: view.pods === 'disabled' ? COMPLETE : ASK },
  ];
}

/** Every namespace counts as one with pods. */
const ASK = { kind: 'ask', labels: 0 } as const;

/** The targets of external names are also records of their namespace. */
function namespaceNode(name: NameKey, namespace: string, directory: ClusterDirectory): ZoneNode {
  const views = [...directory.externalNames(namespace)]
    .sort()
    .map((service) => directory.view(namespace, service));
  const entries = views.flatMap((view) => (view === undefined ? [] : namespaceEntries(view)));
  return manyEntriesNode(name, entries, views[0]?.ttl ?? 0, OUTCOME.namespace);
}

export const kubeDns: Dialect = {
  name: 'kube-dns',
  usesNamespaces: false,
  recursionAvailable: true,
  anyQuestions: 'refused',
  hasWildcards: true,
  ownsReverseZones: false,
  zone,
  apexNodes,
  derive: deriveService,
  namespaceNode,
  nameBelowService(view, name, labels) {
    const all = serviceEntries(view);
    const entries = all === undefined || labels.includes('*') ? [] : entriesBelow(all, labels, view.name);
    return entries.length === 0 ? undefined : entriesNode(name, entries, view.ttl, OUTCOME.endpoint);
  },
  podNamespaceNode: () => undefined,
  podName,
  wildcardName: wildcardNode,
};

/** Every namespace counts as existing, and without verification every name does. */
function podName(
  name: NameKey,
  labels: readonly string[],
  directory: ClusterDirectory,
): ZoneNode | undefined {
  const { pods, ttl } = directory;
  if (pods === 'disabled' || labels.includes('*')) return undefined;
  const empty = { name, sets: [], alias: undefined, below: COMPLETE, outcome: OUTCOME.pod };
  const [label = '', namespace] = labels;
  if (labels.length === 1) return empty;
  if (labels.length !== 2 || namespace === undefined) return undefined;
  const address = ipv4OfPod(label);
  // kube-dns never denies a pod's name.
  if (address === undefined) return pods === 'insecure' ? empty : undefined;
  if (pods === 'verified' && !directory.hasPod(namespace, address)) return undefined;
  return { ...empty, sets: addressSets([address], ttl) };
}
