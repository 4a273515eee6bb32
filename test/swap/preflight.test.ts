/**
 * `portolan preflight` over the API server double, which has the objects of each original: what it says of them as they are, and of
 * each trap.
 */

import { createProcessSources } from '@portolan/cli/servers/dnsmasq-sources.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { RestClient } from '@portolan/kubernetes/api/rest/rest-client.ts';
import type { PreflightFinding, PreflightReport } from '@portolan/ops/preflight/finding.ts';
import { makePreflight } from '@portolan/ops/preflight/preflight.ts';
import { readRunning } from '@portolan/ops/preflight/read-running.ts';
import type { OriginalName } from '@portolan/ops/preflight/settings/originals.ts';
import { planFromPreflightFlags } from '@portolan/ops/preflight/settings/preflight-flags.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, describe, expect, it } from 'vitest';
import type { AccessRule } from '../api-server/access.ts';
import { ApiServerDouble, type ApiServerOptions } from '../api-server/api-server.ts';
import { servedByDefault } from '../api-server/catalog.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { afterFile } from '../support/after-file.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { openCluster, writeKubeconfig } from './cluster-access.ts';
import {
  addonKubeDns,
  addonNodeLocalDns,
  configMap,
  KUBEADM_COREFILE,
  kubeadmCoreDns,
  linuxNode,
} from './original-manifests.ts';

const folder = await makeTemporaryFolder(afterFile);
const doubles: ApiServerDouble[] = [];

afterEach(async () => {
  await endAllPrograms();
  for (const double of doubles.splice(0)) await double.stop();
});

async function startDouble(options: ApiServerOptions): Promise<ApiServerDouble> {
  const double = await ApiServerDouble.start(options);
  doubles.push(double);
  return double;
}

/** In this process: a program needs a second to start. */
async function preflight(
  like: OriginalName,
  objects: readonly KubernetesObject[],
  options: ApiServerOptions = {},
): Promise<PreflightReport> {
  const double = await startDouble({ ...options, objects });
  const connection = await openCluster(await writeKubeconfig(folder, double));
  const checked = planFromPreflightFlags({ like });
  if (checked.kind === 'bad') throw new Error(checked.problems.map(describeProblem).join());
  const machine = { interfaces: new Map(), sources: createProcessSources() };
  try {
    const running = await readRunning(new RestClient(connection, systemClock), checked.value);
    return makePreflight(checked.value, running, machine);
  } finally {
    connection.close();
  }
}

async function run(objects: readonly KubernetesObject[], ...words: readonly string[]): Promise<Program> {
  const kubeconfig = await writeKubeconfig(folder, await startDouble({ objects }));
  const program = runPortolan(['preflight', '--like=coredns', '--kubeconfig', kubeconfig, ...words]);
  await program.exit;
  return program;
}

const sentences = (report: PreflightReport, severity: PreflightFinding['severity']) =>
  report.findings
    .filter((each) => each.severity === severity)
    .map(({ check, sentence }) => `${check}: ${sentence}`);

type Changeable = Record<string, Record<string, Record<string, Record<string, unknown>>>>;

/** The objects, with one of them changed in place. */
function changed(
  objects: readonly KubernetesObject[],
  kind: string,
  change: (object: Changeable) => void,
): readonly KubernetesObject[] {
  const copy = structuredClone(objects);
  for (const each of copy) if (each.kind === kind) change(each as unknown as Changeable);
  return copy;
}

const findContainer = (workload: Changeable): Record<string, unknown> => {
  const containers = workload['spec']?.['template']?.['spec']?.['containers'];
  return (containers as Record<string, unknown>[] | undefined)?.[0] ?? {};
};
const replacing = (objects: readonly KubernetesObject[], ...by: readonly KubernetesObject[]) => [
  ...objects.filter(
    (each) => !by.some(({ kind, metadata }) => kind === each.kind && metadata.name === each.metadata.name),
  ),
  ...by,
];

describe('portolan preflight', () => {
  it('says go for CoreDNS of kubeadm, with what it uses and what stays', async () => {
    const report = await preflight('coredns', kubeadmCoreDns());
    expect(sentences(report, 'first')).toEqual([]);
    expect(report.go).toBe(true);
    expect(report).toMatchObject({
      go: true,
      dialect: 'coredns',
      workload: 'Deployment kube-system/coredns',
    });
    expect(report.plugins).toMatchObject({ kubernetes: 1, forward: 1, prometheus: 1, loop: 1 });
    expect(report.arguments).toEqual({ coredns: ['-conf', '/etc/coredns/Corefile'] });
    expect(report.notChecked).toEqual([]);
    expect(sentences(report, 'note')).toContain(
      'scraping: the annotation prometheus.io/port scrapes port 9153, which stays',
    );
  });

  it('names EndpointSlices of addressType FQDN as deprecated', async () => {
    const slices = Array.from(
      { length: 7 },
      (_, index): KubernetesObject => ({
        kind: 'EndpointSlice',
        metadata: { name: `db-${index}`, namespace: 'shop' },
        addressType: index === 6 ? 'IPv4' : 'FQDN',
        endpoints: [],
      }),
    );
    const report = await preflight('coredns', [...kubeadmCoreDns(), ...slices]);
    expect(report.go).toBe(true);
    expect(sentences(report, 'note')).toContain(
      'endpoint-slices: EndpointSlices have the addressType FQDN, which Kubernetes deprecates; their names stay aliases: shop/db-0, shop/db-1, shop/db-2, shop/db-3, shop/db-4 and 1 others',
    );
  });

  it('says go for kube-dns of the addons, and that requests are small', async () => {
    const report = await preflight('kube-dns', addonKubeDns());
    expect(sentences(report, 'first')).toEqual([]);
    expect(report.go).toBe(true);
    expect(report.dialect).toBe('kube-dns');
    const risks = sentences(report, 'risk').join('\n');
    expect(risks).toContain('memory: container dnsmasq requests 20Mi');
    expect(risks).toContain('endpointslices of all namespaces; it follows Endpoints instead');
    expect(risks).toContain('owner: an addon manager');
  });

  it('names the rights that the Corefile needs beside those of CoreDNS', async () => {
    const corefile = KUBEADM_COREFILE.replace(
      'kubernetes cluster.local in-addr.arpa ip6.arpa {',
      'portolan {\n prefer_zone\n }\n kubernetes cluster.local clusterset.local {\n multicluster clusterset.local',
    );
    const objects = replacing(kubeadmCoreDns(), configMap('coredns', { Corefile: corefile }));
    const risks = sentences(await preflight('coredns', objects), 'risk').join('\n');
    expect(risks).toContain('may not list and watch nodes of all namespaces; clients get');
    expect(risks).toContain('may not list and watch serviceimports of all namespaces; the zones');
  });

  it("says go for a node's cache, and that each node is without it for a moment", async () => {
    const report = await preflight('node-cache', addonNodeLocalDns());
    expect(sentences(report, 'first')).toEqual([]);
    expect(report.go).toBe(true);
    expect(sentences(report, 'risk').join('\n')).toContain('rollout: each node in turn is without its cache');
    expect(sentences(report, 'note').join('\n')).toContain('node-network: kube-proxy in mode iptables');
  });

  it.each<[string, readonly KubernetesObject[], string]>([
    [
      'a plugin that is not built',
      replacing(
        kubeadmCoreDns(),
        configMap('coredns', { Corefile: KUBEADM_COREFILE.replace('loop\n', 'route53 x.:Z\n') }),
      ),
      'plugin/route53: not built into Portolan',
    ],
    ['no Corefile', replacing(kubeadmCoreDns(), configMap('coredns', {})), 'no ConfigMap has the Corefile'],
    [
      'a flag that does not exist',
      changed(kubeadmCoreDns(), 'Deployment', (each) => {
        findContainer(each)['args'] = ['-konf', 'x'];
      }),
      'coredns does not serve with its arguments: flag provided but not defined: -konf',
    ],
    [
      'no capability',
      changed(kubeadmCoreDns(), 'Deployment', (each) => {
        findContainer(each)['securityContext'] = { capabilities: { drop: ['ALL'] } };
      }),
      'container coredns lacks the capability NET_BIND_SERVICE',
    ],
    [
      'a limit of 24Mi',
      changed(kubeadmCoreDns(), 'Deployment', (each) => {
        findContainer(each)['resources'] = { limits: { memory: '24Mi' } };
      }),
      'its limit is 24Mi, and it needs 29Mi at least for 1 services',
    ],
    [
      'one replica',
      changed(kubeadmCoreDns(), 'Deployment', (each) => {
        each['spec'] = { ...each['spec'], replicas: 1 as never };
      }),
      'rollout: the only replica may end before a new one is ready',
    ],
    [
      'a replica that is not ready',
      changed(kubeadmCoreDns(), 'Deployment', (each) => {
        each['status'] = { ...each['status'], readyReplicas: 1 as never };
      }),
      '1 of 2 replicas are ready',
    ],
    [
      'no right to see namespaces',
      changed(kubeadmCoreDns(), 'ClusterRole', (each) => {
        each['rules'] = [{ apiGroups: [''], resources: ['services', 'endpoints'], verbs: ['*'] }] as never;
      }),
      'kube-system/coredns may not list and watch namespaces',
    ],
    [
      'metrics by TLS',
      replacing(
        kubeadmCoreDns(),
        configMap('coredns', {
          Corefile: KUBEADM_COREFILE.replace('prometheus :9153', 'prometheus :9153 {\n tls /x.yaml\n }'),
        }),
      ),
      'served by TLS, which is not built: the target would die',
    ],
    [
      'the managed add-on of EKS',
      changed(kubeadmCoreDns(), 'Deployment', (each) => {
        each['metadata'] = { ...each['metadata'], managedFields: [{ manager: 'eks' }] as never };
      }),
      'the managed add-on of EKS sets its own image again',
    ],
    [
      'a node without an image',
      replacing(
        kubeadmCoreDns(),
        ((node) => ({ ...node, status: { nodeInfo: { operatingSystem: 'linux', architecture: 's390x' } } }))(
          linuxNode('z', ''),
        ),
      ),
      'nodes have an architecture without an image: s390x',
    ],
  ])('says what to do first: %s', async (_, objects, sentence) => {
    const report = await preflight('coredns', objects);
    expect(sentences(report, 'first').join('\n')).toContain(sentence);
    expect(report.go).toBe(false);
    for (const { severity, remedies } of report.findings)
      if (severity === 'first') expect(remedies).not.toEqual([]);
  });

  it.each<[string, KubernetesObject, string]>([
    [
      'Cilium',
      configMap('cilium-config', { 'kube-proxy-replacement': 'true' }),
      'Cilium replaces kube-proxy',
    ],
    [
      'IPVS',
      configMap('kube-proxy', { 'config.conf': 'kind: X\nmode: "ipvs"\n' }),
      'kube-proxy runs in IPVS mode',
    ],
    [
      'Calico',
      { kind: 'FelixConfiguration', metadata: { name: 'default' }, spec: { bpfEnabled: true } },
      "Calico's eBPF mode",
    ],
  ])("names the trap of a node's network: %s", async (_, object, sentence) => {
    const serves = [...servedByDefault, 'crd.projectcalico.org/v1/felixconfigurations'];
    const report = await preflight('node-cache', [...addonNodeLocalDns(), object], { serves });
    expect(sentences(report, 'first').join('\n')).toContain(`node-network: ${sentence}`);
    expect(report.go).toBe(false);
  });

  it('opens port 53 for dnsmasq by root and capability, by the sysctl, or by the runtime', async () => {
    const unprivileged = changed(addonKubeDns(), 'Deployment', (each) => {
      const containers = each['spec']?.['template']?.['spec']?.['containers'] as Record<string, unknown>[];
      if (containers[1] !== undefined) containers[1]['securityContext'] = { runAsUser: 1001 };
    });
    const refused = await preflight('kube-dns', unprivileged);
    expect(sentences(refused, 'first').join()).toContain(
      'container dnsmasq cannot open port 53: it is not root',
    );
    const newer = await preflight(
      'kube-dns',
      replacing(unprivileged, linuxNode('node-1', 'containerd://2.0.1')),
    );
    expect(sentences(newer, 'first')).toEqual([]);
    const withSysctl = changed(unprivileged, 'Deployment', (each) => {
      const spec = each['spec']?.['template']?.['spec'] ?? {};
      spec['securityContext'] = { sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }] };
    });
    expect(sentences(await preflight('kube-dns', withSysctl), 'first')).toEqual([]);
  });

  it('finds ServiceMonitors and PodMonitors that select it, by the port that the container has', async () => {
    const monitor = (kind: string, name: string, spec: object): KubernetesObject => ({
      kind,
      spec,
      metadata: { name, namespace: 'monitoring' },
    });
    const selector = { matchLabels: { 'k8s-app': 'kube-dns' } };
    const namespaceSelector = { matchNames: ['kube-system'] };
    const serves = ['servicemonitors', 'podmonitors'].map((plural) => `monitoring.coreos.com/v1/${plural}`);
    const monitors = [
      monitor('ServiceMonitor', 'dns', { selector, namespaceSelector, endpoints: [{ port: 'metrics' }] }),
      monitor('ServiceMonitor', 'other', { selector, endpoints: [{ port: 'metrics' }] }),
      monitor('PodMonitor', 'pods', { selector, namespaceSelector, podMetricsEndpoints: [{ port: 'gone' }] }),
    ];
    const options = { serves: [...servedByDefault, ...serves] };
    const report = await preflight('coredns', [...kubeadmCoreDns(), ...monitors], options);
    const found = report.findings.filter(({ check }) => check === 'scraping').map(({ sentence }) => sentence);
    expect(found.toSorted()).toEqual([
      'PodMonitor monitoring/pods scrapes port gone, at which nothing listens, today either',
      'ServiceMonitor monitoring/dns scrapes port metrics, which stays',
      'the annotation prometheus.io/port scrapes port 9153, which stays',
    ]);
  });

  it('says what it was not allowed to look at, and writes nothing', async () => {
    const rule = (group: string, ...resources: readonly string[]): AccessRule => ({
      groups: [group],
      resources,
      verbs: ['get', 'list'],
    });
    const access = { rules: { admin: [rule('apps', '*'), rule('', 'services', 'configmaps')] } };
    const report = await preflight('coredns', kubeadmCoreDns(), { access });
    expect(report.notChecked.map(({ check }) => check)).toEqual([
      'permissions',
      'scraping',
      'endpoint-slices',
      'nodes',
    ]);
    expect(report.notChecked[0]?.reason).toContain('cannot list resource "clusterrolebindings"');
    expect(doubles[0]?.requests.every(({ verb }) => verb === 'get' || verb === 'list')).toBe(true);
  });

  it('ends with 0 for go and 1 for not yet, with 3 if there is nothing to look at, with 2 for wrong flags', async () => {
    const json = await run(kubeadmCoreDns(), '--output=json');
    expect({ code: json.ended?.code, errors: json.errors }).toEqual({ code: 0, errors: '' });
    expect(JSON.parse(json.output)).toMatchObject({ go: true, like: 'coredns' });
    const single = changed(kubeadmCoreDns(), 'Deployment', (each) => {
      each['spec'] = { ...each['spec'], replicas: 1 as never };
    });
    const text = await run(single);
    expect(text.ended?.code).toBe(1);
    expect(text.output).toContain(
      'do  run 2 replicas\n           kubectl scale deployment/coredns --replicas=2',
    );
    expect(text.output).toMatch(/\nNOT YET: 1 to do first\n$/);
    const blind = await run([]);
    expect(blind.ended?.code).toBe(3);
    expect(blind.errors).toContain('cannot read Deployment kube-system/coredns: ');
    const wrong = runPortolan(['preflight', '--like=bind']);
    expect((await wrong.exit).code).toBe(2);
    expect(wrong.errors).toContain('--like: unknown: "bind". Give one of coredns, kube-dns, node-cache.');
  });
});
