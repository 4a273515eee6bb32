/**
 * What a container may do: open port 53, change the node's network, use memory, and follow the objects of the cluster.
 */
import type { ServerBlock } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { findOptions } from '@portolan/frontends/plugins/registry.ts';
import { describeRule } from '@portolan/kubernetes/api/list-watch/rbac-rule.ts';
import {
  asRecord,
  asRecords,
  asText,
  asTexts,
  type JsonRecord,
} from '@portolan/kubernetes/objects/trim/fields.ts';
import { followedNode } from '@portolan/kubernetes/publish/nodes-use.ts';
import { CheckFindings, type PreflightFinding, type Seen } from './finding.ts';
import type { Part, PodTemplate, RunningContainer } from './pod-template.ts';
import type { Original } from './settings/originals.ts';

const PORT_START = 'net.ipv4.ip_unprivileged_port_start';

export function checkPrivileges(
  template: PodTemplate,
  parts: readonly Part[],
  nodes: Seen<readonly JsonRecord[]>,
): readonly PreflightFinding[] {
  const findings = new CheckFindings('privileges');
  const runtimes = nodes.kind === 'seen' ? nodes.value.map(readRuntime) : [];
  for (const { container, original } of parts) {
    if (original.target === 'node-cache') checkNodeRights(findings, template, container, runtimes);
    else if (original.opensPort53) checkPort53(findings, template, container, original.target, runtimes);
  }
  return findings.all;
}

function checkPort53(
  findings: CheckFindings,
  { sysctls }: PodTemplate,
  { name, capabilities, isPrivileged, user }: RunningContainer,
  target: string,
  runtimes: readonly string[],
): void {
  const mayBind = isPrivileged || capabilities.includes('NET_BIND_SERVICE');
  if (target === 'coredns') {
    // Its programs have the capability as files, so a container without it cannot execute them.
    if (!mayBind)
      findings.add(
        'first',
        `container ${name} lacks the capability NET_BIND_SERVICE, without which the kernel does not execute the image of the target coredns`,
        { sentence: 'add NET_BIND_SERVICE to securityContext.capabilities.add' },
      );
    else
      findings.add(
        'note',
        `container ${name} opens port 53 by NET_BIND_SERVICE: no sysctl is needed on any node`,
      );
    return;
  }
  const isRoot = user === undefined || user === 0;
  const closed = [...new Set(runtimes.filter((runtime) => !opensLowPorts(runtime)))];
  if ((mayBind && isRoot) || sysctls.get(PORT_START) === '0') return;
  if (runtimes.length > 0 && closed.length === 0) return;
  findings.add(
    'first',
    `container ${name} cannot open port 53: it ${mayBind ? 'is not root' : 'lacks NET_BIND_SERVICE'}, the pod does not set ${PORT_START}, and the runtime does not either${closed.length === 0 ? '' : `: ${closed.join(', ')}`}`,
    {
      sentence: `set the sysctl ${PORT_START}=0 in securityContext.sysctls of the pod (kubelet 1.22 or later)`,
    },
  );
}

/** containerd since 2.0 and Docker since 20.10 let processes without rights open low ports, by default. */
function opensLowPorts(runtime: string): boolean {
  const [, name, major = '0', minor = '0'] = /^(\w[\w-]*):\/\/(\d+)\.(\d+)/.exec(runtime) ?? [];
  if (name === 'containerd') return Number(major) >= 2;
  return name === 'docker' && (Number(major) > 20 || (major === '20' && Number(minor) >= 10));
}

export function readRuntime(node: JsonRecord): string {
  return asText(nodeInfo(node)['containerRuntimeVersion']) ?? 'unknown';
}

export function nodeInfo(node: JsonRecord): JsonRecord {
  return asRecord(asRecord(node['status'])?.['nodeInfo']) ?? {};
}

function checkNodeRights(
  findings: CheckFindings,
  { isOnHostNetwork, spec }: PodTemplate,
  { name, capabilities, isPrivileged, user, mounts, arguments: words }: RunningContainer,
  runtimes: readonly string[],
): void {
  const changesNode = !words.some((word) => /^--?setupinterface=false$/.test(word));
  if (!changesNode) return;
  if (!isOnHostNetwork)
    findings.add(
      'first',
      `the pod is not on the node's network, where container ${name} sets up its address`,
      {
        sentence: 'set hostNetwork: true',
      },
    );
  if (!isPrivileged && !capabilities.includes('NET_ADMIN'))
    findings.add('first', `container ${name} lacks NET_ADMIN, which the interface and the rules need`, {
      sentence: 'add NET_ADMIN to securityContext.capabilities.add',
    });
  if (user !== undefined && user !== 0)
    findings.add(
      'first',
      `container ${name} is not root but ${user}: capabilities do not reach its programs`,
      {
        sentence: 'set runAsUser: 0',
      },
    );
  const isCrio = runtimes.some((runtime) => runtime.startsWith('cri-o://'));
  if (isCrio && !isPrivileged && !asksFor(spec, name, 'NET_RAW'))
    findings.add(
      'risk',
      `CRI-O gives no NET_RAW, without which iptables in its legacy variant cannot be read`,
      {
        sentence: 'add NET_RAW to securityContext.capabilities.add, unless no node uses the legacy variant',
      },
    );
  if (!mounts.some(({ path }) => path.startsWith('/run/xtables.lock')))
    findings.add('risk', `container ${name} does not mount /run/xtables.lock, which rules in iptables need`, {
      sentence: 'mount it from the node, or give -rules=nft',
    });
}

function asksFor(spec: JsonRecord, container: string, capability: string): boolean {
  const own = asRecords(spec['containers']).find((each) => each['name'] === container);
  const { add } = asRecord(asRecord(own?.['securityContext'])?.['capabilities']) ?? {};
  return asTexts(add).some((each) => each.replace(/^CAP_/, '') === capability);
}

const MEBI = 1024 * 1024;

/** Mebibytes, from docs/explanation/memory.md. `services`: what 10,000 services with 38,000 endpoints add. */
interface MemoryNeed {
  readonly least: number;
  readonly enough: number;
  readonly request: number;
  readonly services: number;
}

const MEMORY: ReadonlyMap<string, MemoryNeed> = new Map([
  ['coredns', { least: 28, enough: 116, request: 128, services: 34 }],
  ['kube-dns', { least: 28, enough: 116, request: 128, services: 34 }],
  ['dnsmasq-nanny', { least: 25, enough: 96, request: 96, services: 0 }],
  ['sidecar', { least: 11, enough: 64, request: 64, services: 0 }],
  ['node-cache', { least: 32, enough: 101, request: 64, services: 0 }],
]);

export function checkMemory(
  parts: readonly Part[],
  services: number,
  { kind, workload }: Original,
): readonly PreflightFinding[] {
  const findings = new CheckFindings('memory');
  for (const { container, original } of parts) {
    const need = MEMORY.get(original.target);
    if (need === undefined) continue;
    const grown = Math.ceil((need.services * services) / 10_000);
    const { request, limit } = container.memory;
    const set = (what: 'limits' | 'requests', value: number) => ({
      sentence: `set ${what} to ${value}Mi`,
      command: `kubectl set resources ${kind.toLowerCase()}/${workload} --containers=${container.name} --${what}=memory=${value}Mi`,
    });
    const enough = need.enough + grown;
    const given = limit === undefined ? '' : `${Math.floor(limit / MEBI)}Mi`;
    if (limit !== undefined && limit < (need.least + grown) * MEBI)
      findings.add(
        'first',
        `container ${container.name} would be killed: its limit is ${given}, and it needs ${need.least + grown}Mi at least for ${services} services`,
        set('limits', enough),
      );
    else if (limit !== undefined && limit < enough * MEBI)
      findings.add(
        'risk',
        `container ${container.name} has a limit of ${given}; with ${services} services it may use ${enough}Mi while they are listed`,
        set('limits', enough),
      );
    if (request !== undefined && request < need.request * MEBI && (limit ?? Infinity) >= need.request * MEBI)
      findings.add(
        'risk',
        `container ${container.name} requests ${Math.floor(request / MEBI)}Mi: on a node short of memory its pod is evicted early`,
        set('requests', need.request),
      );
  }
  return findings.all;
}

interface NeededRight {
  readonly path: string;
  readonly group: string;
  readonly resource: string;
  /** What it goes without; undefined: it does not become ready. */
  readonly without?: string;
}

const CORE = (resource: string): NeededRight => ({ path: `/api/v1/${resource}`, group: '', resource });
const SLICES: NeededRight = {
  path: '/apis/discovery.k8s.io/v1/endpointslices',
  group: 'discovery.k8s.io',
  resource: 'endpointslices',
  without:
    'it follows Endpoints instead: services with more than 1,000 endpoints or two families are incomplete',
};

const IMPORTS: NeededRight = {
  path: '/apis/multicluster.x-k8s.io/v1alpha1/serviceimports',
  group: 'multicluster.x-k8s.io',
  resource: 'serviceimports',
  without: 'the zones of the cluster set answer SERVFAIL',
};
const NODES: NeededRight = {
  ...CORE('nodes'),
  without: 'clients get the endpoints of all zones, and no ranges of pods are learned',
};

export function checkPermissions(
  original: Original,
  blocks: readonly ServerBlock[],
  rules: readonly JsonRecord[],
  account: string,
): readonly PreflightFinding[] {
  const findings = new CheckFindings('permissions');
  const missing = neededRights(original, blocks).filter(({ group, resource }) =>
    ['list', 'watch'].some((verb) => !rules.some((rule) => allows(rule, group, resource, verb))),
  );
  const lacksSlices = missing.some(({ resource }) => resource === 'endpointslices');
  for (const right of missing) {
    // Followed only in place of slices.
    if (right.resource === 'endpoints' && !lacksSlices) continue;
    const { path, resource, without } = right;
    const then = without === undefined ? '' : `; ${without}`;
    findings.add(
      without === undefined ? 'first' : 'risk',
      `service account ${account} may not list and watch ${resource} of all namespaces${then}`,
      { sentence: `add the rule to its ClusterRole: ${describeRule({ path })}` },
    );
  }
  return findings.all;
}

function neededRights({ name }: Original, blocks: readonly ServerBlock[]): readonly NeededRight[] {
  if (name === 'node-cache') return [];
  if (name === 'kube-dns') return [CORE('services'), CORE('endpoints'), SLICES];
  const clusters = blocks.flatMap((block) =>
    [findOptions(block, 'kubernetes') ?? [], findOptions(block, 'kubernetai') ?? []].flat(),
  );
  // With a kubeconfig or certificates of its own it is another user.
  const own = clusters.filter(({ api }) => api.kubeconfig === undefined && api.tls === undefined);
  if (own.length === 0) return [];
  return [
    CORE('services'),
    CORE('namespaces'),
    ...(own.some(({ hasEndpoints }) => hasEndpoints) ? [CORE('endpoints'), SLICES] : []),
    ...(own.some(({ pods }) => pods === 'verified') ? [CORE('pods')] : []),
    ...(own.some(({ multicluster }) => multicluster.length > 0) ? [IMPORTS] : []),
    ...(own.some(({ nodes }) => nodes !== undefined && followedNode(nodes) === undefined) ? [NODES] : []),
  ];
}

/** A rule for named objects does not allow a list of all. */
function allows(rule: JsonRecord, group: string, resource: string, verb: string): boolean {
  const covers = (listed: unknown, asked: string) => {
    const texts = asTexts(listed);
    return texts.includes('*') || texts.includes(asked);
  };
  return (
    asTexts(rule['resourceNames']).length === 0 &&
    covers(rule['apiGroups'], group) &&
    covers(rule['resources'], resource) &&
    covers(rule['verbs'], verb)
  );
}
