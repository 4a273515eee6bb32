/**
 * The workloads behind the addresses of clients, by the owners of their pods.
 */
import {
  asList,
  asRecord,
  asRecords,
  asText,
  type JsonRecord,
} from '@portolan/kubernetes/objects/trim/fields.ts';
import { makeClusterFirstSearchList } from '@portolan/server/reasons/search-walk.ts';
import { readPod } from '../control/client-pod.ts';
import { flattenObjects } from '../control/raw-evidence.ts';

export interface Workload {
  /** As in Kubernetes: `Deployment`; `Client` is an address without a pod that is known. */
  readonly kind: string;
  /** Undefined: not known, of an address. */
  readonly namespace: string | undefined;
  /** An address for clients. */
  readonly name: string;
  /** Undefined: that of the node. */
  readonly search: readonly string[] | undefined;
  readonly ndots: number;
  /** All options of its `dnsConfig`. */
  readonly options: readonly DnsOption[];
}

export interface DnsOption {
  readonly name: string;
  readonly value?: string;
}

/** That of the kubelet. */
export const DEFAULT_NDOTS = 5;

interface ObjectOwner {
  readonly kind: string;
  readonly name: string;
}

/** Labels by which a Deployment, and a Rollout of Argo, tell their ReplicaSets apart: the name ends with the value. */
const HASHES: ReadonlyMap<string, string> = new Map([
  ['pod-template-hash', 'Deployment'],
  ['rollouts-pod-template-hash', 'Rollout'],
]);
/** Pods that have ended leave their addresses to others. */
const ENDED: readonly string[] = ['Succeeded', 'Failed'];

/**
 * By the address of the pod. Pods of a workload whose settings differ are of two, as during a rollout. An address that several pods have, as
 * those on the network of their node, is of no workload.
 *
 * @param objects pods, and owners between them and their workload, such as ReplicaSets and Jobs
 * @param domain of the cluster
 */
export function findWorkloads(objects: readonly unknown[], domain: string): ReadonlyMap<string, Workload> {
  const all = [...flattenObjects(objects)];
  const owners = readOwners(all);
  const workloads = new Map<string, Workload>();
  const found = new Map<string, Workload | undefined>();
  for (const object of all) {
    const status = asRecord(object['status']);
    if (object['kind'] !== 'Pod' || ENDED.includes(asText(status?.['phase']) ?? '')) continue;
    const workload = readWorkload(object, owners, domain);
    const key = toWorkloadKey(workload);
    const shared = workloads.get(key) ?? workload;
    workloads.set(key, shared);
    for (const address of listAddresses(status)) found.set(address, found.has(address) ? undefined : shared);
  }
  return new Map(
    [...found].flatMap(([address, workload]) =>
      workload === undefined ? [] : [[address, workload] as const],
    ),
  );
}

/** The same for pods that are configured alike. */
function toWorkloadKey({ kind, namespace, name, search, ndots }: Workload): string {
  return JSON.stringify([kind, namespace, name, search, ndots]);
}

function listAddresses(status: JsonRecord | undefined): ReadonlySet<string> {
  const listed = asRecords(status?.['podIPs']).map(({ ip }) => ip);
  return new Set([status?.['podIP'], ...listed].flatMap((address) => asText(address) ?? []));
}

function readWorkload(pod: JsonRecord, owners: ReadonlyMap<string, ObjectOwner>, domain: string): Workload {
  const { namespace, search, ndots = DEFAULT_NDOTS, asks } = readPod(pod, undefined);
  const config = asRecord(asRecord(pod['spec'])?.['dnsConfig']);
  const own = asks.kind === 'cluster' ? makeClusterFirstSearchList(namespace, domain) : [];
  return {
    ...findOwner(pod, namespace, owners),
    namespace,
    search: asks.kind === 'node' ? undefined : [...own, ...search],
    ndots,
    options: asList(config?.['options']).flatMap(readOption),
  };
}

function readOption(option: unknown): readonly DnsOption[] {
  const record = asRecord(option);
  const name = asText(record?.['name']);
  const value = asText(record?.['value']);
  return name === undefined ? [] : [{ name, ...(value !== undefined && { value }) }];
}

/** The owners of objects that are no pods. */
function readOwners(objects: readonly JsonRecord[]): ReadonlyMap<string, ObjectOwner> {
  const owners = new Map<string, ObjectOwner>();
  for (const object of objects) {
    if (object['kind'] === 'Pod') continue;
    const metadata = asRecord(object['metadata']);
    const owner = readController(metadata);
    const key = toOwnerKey(asText(metadata?.['namespace']), {
      kind: asText(object['kind']) ?? '',
      name: asText(metadata?.['name']) ?? '',
    });
    if (owner !== undefined) owners.set(key, owner);
  }
  return owners;
}

function toOwnerKey(namespace: string | undefined, { kind, name }: ObjectOwner): string {
  return `${kind} ${namespace ?? 'default'}/${name}`;
}

function readController(metadata: JsonRecord | undefined): ObjectOwner | undefined {
  const references = asRecords(metadata?.['ownerReferences']);
  const controller = references.find((each) => each['controller'] === true);
  const kind = asText(controller?.['kind']);
  const name = asText(controller?.['name']);
  // The node owns the mirror of a static pod.
  return kind === undefined || name === undefined || kind === 'Node' ? undefined : { kind, name };
}

function findOwner(
  pod: JsonRecord,
  namespace: string,
  owners: ReadonlyMap<string, ObjectOwner>,
): ObjectOwner {
  const metadata = asRecord(pod['metadata']);
  const controller = readController(metadata);
  if (controller === undefined) return { kind: 'Pod', name: asText(metadata?.['name']) ?? '' };
  const above = owners.get(toOwnerKey(namespace, controller));
  return above ?? findByHash(controller, asRecord(metadata?.['labels'])) ?? controller;
}

/** Whose ReplicaSet it is, where that cannot be read. */
function findByHash({ kind, name }: ObjectOwner, labels: JsonRecord | undefined): ObjectOwner | undefined {
  if (kind !== 'ReplicaSet') return undefined;
  for (const [label, owner] of HASHES) {
    const end = `-${asText(labels?.[label]) ?? ''}`;
    if (end !== '-' && name.endsWith(end)) return { kind: owner, name: name.slice(0, -end.length) };
  }
  return undefined;
}
