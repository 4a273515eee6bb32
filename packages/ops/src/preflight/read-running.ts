/**
 * Reads from the API server what a preflight looks at. Nothing is written.
 */
import { type RestClient, RestError } from '@portolan/kubernetes/api/rest/rest-client.ts';
import {
  asList,
  asRecord,
  asRecords,
  asText,
  type JsonRecord,
  toTextMap,
} from '@portolan/kubernetes/objects/trim/fields.ts';
import type { Seen } from './finding.ts';
import { type ConfigMaps, configMapMounts, findReplacedParts, readPodTemplate } from './pod-template.ts';
import type { WorkloadPlan } from './settings/preflight-flags.ts';

export interface RunningServer {
  readonly workload: JsonRecord;
  readonly service: Seen<JsonRecord | undefined>;
  /** Those that the replaced containers mount; the missing ones are left out. */
  readonly configMaps: Seen<ConfigMaps>;
  readonly nodes: Seen<readonly JsonRecord[]>;
  readonly services: Seen<number>;
  /** EndpointSlices of all namespaces whose `addressType` is FQDN, as `namespace/name`. */
  readonly fqdnSlices: Seen<readonly string[]>;
  /** The rules of all roles that are bound to the service account. */
  readonly rules: Seen<readonly JsonRecord[]>;
  /** ServiceMonitors and PodMonitors of all namespaces; empty where there are no such kinds. */
  readonly monitors: Seen<readonly JsonRecord[]>;
  readonly network: Seen<PodNetwork>;
}

/** What handles the packets of pods. */
export interface PodNetwork {
  /** Names of the DaemonSets in kube-system. */
  readonly daemonSets: readonly string[];
  /** The data of the ConfigMaps of Cilium and kube-proxy; empty where there are none. */
  readonly cilium: ReadonlyMap<string, string>;
  readonly kubeProxy: ReadonlyMap<string, string>;
  readonly calicoUsesBpf: boolean;
}

/** Objects of one page, and pages of one list: more are not looked at. */
const PAGE = 500;
const MAX_PAGES = 40;
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** @throws RestError if the Deployment or DaemonSet cannot be read */
export async function readRunning(rest: RestClient, plan: WorkloadPlan): Promise<RunningServer> {
  const { original, namespace } = plan;
  const cluster = new ClusterReader(rest);
  const workload = await rest.get(workloadPath(plan));
  const template = readPodTemplate(workload);
  const account = { namespace, name: template.serviceAccount };
  const names = findReplacedParts(template, original).flatMap(({ container }) =>
    configMapMounts(template, container).map(({ configMap }) => configMap),
  );
  return {
    workload,
    service: await cluster.see(() =>
      cluster.find(`/api/v1/namespaces/${pathPart(namespace)}/services/${pathPart(original.service)}`),
    ),
    configMaps: await cluster.see(() => cluster.configMaps(namespace, new Set(names))),
    nodes: await cluster.see(() => cluster.list('/api/v1/nodes')),
    services: await cluster.see(() => cluster.count('/api/v1/services')),
    fqdnSlices: await cluster.see(() => cluster.fqdnSlices()),
    rules: await cluster.see(() => cluster.listRules(account)),
    monitors: await cluster.see(() => cluster.monitors()),
    network: await cluster.see(() => cluster.network()),
  };
}

/** The path of the Deployment or DaemonSet. */
export function workloadPath({ original, namespace }: WorkloadPlan): string {
  const plural = original.kind === 'Deployment' ? 'deployments' : 'daemonsets';
  return `/apis/apps/v1/namespaces/${pathPart(namespace)}/${plural}/${pathPart(original.workload)}`;
}

interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
}

class ClusterReader {
  readonly #rest: RestClient;

  constructor(rest: RestClient) {
    this.#rest = rest;
  }

  async see<Value>(read: () => Promise<Value>): Promise<Seen<Value>> {
    try {
      return { kind: 'seen', value: await read() };
    } catch (error) {
      if (error instanceof RestError) return { kind: 'unseen', reason: error.message };
      throw error;
    }
  }

  /** Undefined: there is no such object, or no such kind. */
  async find(path: string): Promise<JsonRecord | undefined> {
    try {
      return await this.#rest.get(path);
    } catch (error) {
      if (error instanceof RestError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Empty where there is no such kind. */
  async list(path: string): Promise<readonly JsonRecord[]> {
    const items: JsonRecord[] = [];
    for await (const item of this.#items(path)) items.push(item);
    return items;
  }

  async *#items(path: string): AsyncIterable<JsonRecord> {
    let next = '';
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const query = new URLSearchParams({ limit: String(PAGE), ...(next !== '' && { continue: next }) });
      const list = await this.find(`${path}?${query}`);
      yield* asRecords(list?.['items']);
      next = asText(asRecord(list?.['metadata'])?.['continue']) ?? '';
      if (next === '') return;
    }
    throw new RestError(`more than ${PAGE * MAX_PAGES} objects: ${path}`, undefined);
  }

  /** Without reading them all. */
  async count(path: string): Promise<number> {
    const list = await this.#rest.get(`${path}?limit=1`);
    const remaining = asRecord(list['metadata'])?.['remainingItemCount'];
    return asList(list['items']).length + (typeof remaining === 'number' ? remaining : 0);
  }

  /** Keeps no slice: a cluster may have a hundred thousand. */
  async fqdnSlices(): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const { addressType, metadata } of this.#items('/apis/discovery.k8s.io/v1/endpointslices')) {
      const { namespace, name } = asRecord(metadata) ?? {};
      if (addressType === 'FQDN') found.push(`${String(namespace)}/${String(name)}`);
    }
    return found;
  }

  async configMaps(namespace: string, names: ReadonlySet<string>): Promise<ConfigMaps> {
    const found = new Map<string, ReadonlyMap<string, string>>();
    for (const name of names) {
      const path = `/api/v1/namespaces/${pathPart(namespace)}/configmaps/${pathPart(name)}`;
      const object = await this.find(path);
      if (object !== undefined) found.set(name, toTextMap(object['data']));
    }
    return found;
  }

  async listRules(account: ServiceAccount): Promise<readonly JsonRecord[]> {
    const own = `${RBAC}/namespaces/${pathPart(account.namespace)}`;
    const bindings = [
      ...(await this.list(`${RBAC}/clusterrolebindings`)),
      ...(await this.list(`${own}/rolebindings`)),
    ];
    const rules: JsonRecord[] = [];
    for (const binding of bindings.filter((each) => isBoundTo(each, account))) {
      const { kind, name } = asRecord(binding['roleRef']) ?? {};
      const place = kind === 'Role' ? `${own}/roles` : `${RBAC}/clusterroles`;
      const role = await this.find(`${place}/${pathPart(String(name))}`);
      const isWide = asRecord(binding['metadata'])?.['namespace'] === undefined;
      // A binding of a namespace does not let anyone list the objects of all.
      if (isWide) rules.push(...asRecords(role?.['rules']));
    }
    return rules;
  }

  async monitors(): Promise<readonly JsonRecord[]> {
    const group = '/apis/monitoring.coreos.com/v1';
    const [services, pods] = [
      await this.list(`${group}/servicemonitors`),
      await this.list(`${group}/podmonitors`),
    ];
    // Items of a list have no kind.
    return [
      ...services.map((each) => ({ ...each, kind: 'ServiceMonitor' })),
      ...pods.map((each) => ({ ...each, kind: 'PodMonitor' })),
    ];
  }

  async network(): Promise<PodNetwork> {
    const system = 'kube-system';
    const daemonSets = await this.list(`/apis/apps/v1/namespaces/${system}/daemonsets`);
    const configMaps = await this.configMaps(system, new Set(['cilium-config', 'kube-proxy']));
    const felix = await this.find('/apis/crd.projectcalico.org/v1/felixconfigurations/default');
    return {
      daemonSets: daemonSets.map(({ metadata }) => asText(asRecord(metadata)?.['name']) ?? ''),
      cilium: configMaps.get('cilium-config') ?? new Map(),
      kubeProxy: configMaps.get('kube-proxy') ?? new Map(),
      calicoUsesBpf: asRecord(felix?.['spec'])?.['bpfEnabled'] === true,
    };
  }
}

function isBoundTo(binding: JsonRecord, account: ServiceAccount): boolean {
  const groups = [
    'system:serviceaccounts',
    `system:serviceaccounts:${account.namespace}`,
    'system:authenticated',
  ];
  return asRecords(binding['subjects']).some(({ kind, name, namespace }) => {
    if (kind === 'Group') return groups.includes(String(name));
    if (kind === 'User') return name === `system:serviceaccount:${account.namespace}:${account.name}`;
    return kind === 'ServiceAccount' && name === account.name && namespace === account.namespace;
  });
}

function pathPart(text: string): string {
  return encodeURIComponent(text);
}
