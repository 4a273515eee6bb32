/**
 * Our manifests keep everything that clients, probes and Prometheus use of the manifests of CoreDNS (coredns/deployment, and the
 * addon of Kubernetes) and of NodeLocal DNSCache (the addon of Kubernetes).
 */
import { resolveAlias } from '@portolan/cli/program-aliases.ts';
import { readCorefile } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { readNodeCacheFlags } from '@portolan/frontends/node-cache/settings/node-cache-flags.ts';
import { renderCorefile } from '@portolan/frontends/node-cache/settings/render-corefile.ts';
import type { Layout } from '@portolan/ops/manifests/settings/manifests-flags.ts';
import { describe, expect, it } from 'vitest';
import { type Container, dnsPorts, IMAGE, type Manifest, readLayout } from './manifests.ts';

const NODE_LOCAL = [
  'node-local',
  'node-local-ipvs',
  'node-local-init',
  'node-local-cilium',
  'node-local-service',
] as const;

type NodeLocalContainer = Pick<Container, 'args' | 'image'>;

interface NodeLocalPod {
  readonly hostNetwork?: boolean;
  readonly initContainers?: readonly NodeLocalContainer[];
  readonly containers: readonly NodeLocalContainer[];
}

function named(layout: Layout, kind: string, name: string): Manifest | undefined {
  return readLayout(layout).find((object) => object.kind === kind && object.metadata.name === name);
}

/** The text of a key of a ConfigMap. */
function readCorefileText(layout: Layout, name: string): string {
  const { data } = named(layout, 'ConfigMap', name) as Manifest & { data: Readonly<Record<string, string>> };
  return data['Corefile'] ?? '';
}

function readProblems(corefile: string): readonly string[] {
  const reading = readCorefile(corefile, {
    file: 'Corefile',
    profile: '1.14',
    defaultPort: 53,
    environment: {},
    files: { read: () => 'nameserver 192.0.2.1\n', findKind: () => 'file', list: () => [] },
    interfaces: new Map(),
  });
  return reading.kind === 'bad' ? reading.problems.map(({ message }) => message) : [];
}

describe('the manifest of CoreDNS', () => {
  it('has the Deployment with its ports, probes and Corefile', () => {
    expect(named('coredns', 'Deployment', 'coredns')).toMatchObject({
      metadata: { labels: { 'k8s-app': 'kube-dns', 'kubernetes.io/name': 'CoreDNS' } },
      spec: {
        selector: { matchLabels: { 'k8s-app': 'kube-dns' } },
        // CoreDNS's has maxUnavailable 1: one pod alone would end before a new one is ready.
        strategy: { rollingUpdate: { maxSurge: '10%', maxUnavailable: 0 } },
        template: {
          metadata: { labels: { 'k8s-app': 'kube-dns' } },
          spec: {
            dnsPolicy: 'Default',
            serviceAccountName: 'coredns',
            containers: [
              {
                name: 'coredns',
                ports: dnsPorts(9153),
                livenessProbe: { httpGet: { path: '/health', port: 8080 } },
                readinessProbe: { httpGet: { path: '/ready', port: 8181 } },
                volumeMounts: [
                  { name: 'config-volume', mountPath: '/etc/coredns', readOnly: true },
                  { name: 'run', mountPath: '/run/portolan' },
                ],
              },
            ],
          },
        },
      },
    });
  });

  it('has the Service, the account, the rights and a Corefile that is read without a problem', () => {
    expect(named('coredns', 'Service', 'kube-dns')).toMatchObject({
      metadata: { annotations: { 'prometheus.io/port': '9153', 'prometheus.io/scrape': 'true' } },
      spec: { selector: { 'k8s-app': 'kube-dns' }, ports: [{ port: 53 }, { port: 53 }, { port: 9153 }] },
    });
    expect(named('coredns', 'ServiceAccount', 'coredns')).toBeDefined();
    expect(named('coredns', 'ClusterRole', 'system:coredns')).toMatchObject({
      rules: [
        { resources: ['endpoints', 'services', 'pods', 'namespaces'], verbs: ['list', 'watch'] },
        { resources: ['endpointslices'], verbs: ['list', 'watch'] },
      ],
    });
    expect(readProblems(readCorefileText('coredns', 'coredns'))).toEqual([]);
  });
});

describe.each(NODE_LOCAL)('the manifest of a cache on every node: %s', (layout) => {
  const daemonSet = named(layout, 'DaemonSet', 'node-local-dns') as Manifest & {
    spec: {
      template: { spec: NodeLocalPod };
    };
  };
  const [container] = daemonSet.spec.template.spec.containers;
  const usesNode = ['node-local', 'node-local-ipvs', 'node-local-init'].includes(layout);
  const changesNode = usesNode && layout !== 'node-local-init';
  // As the entry of the image calls the program.
  const words = usesNode ? resolveAlias('/node-cache', container?.args ?? []) : (container?.args ?? []);

  it('has the names, labels and Services that the addon of Kubernetes has', () => {
    expect(daemonSet).toMatchObject({
      metadata: { labels: { 'k8s-app': 'node-local-dns' } },
      spec: {
        selector: { matchLabels: { 'k8s-app': 'node-local-dns' } },
        updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template: {
          metadata: { annotations: { 'prometheus.io/port': '9253', 'prometheus.io/scrape': 'true' } },
          spec: { dnsPolicy: 'Default', priorityClassName: 'system-node-critical' },
        },
      },
    });
    expect(named(layout, 'Service', 'kube-dns-upstream')).toMatchObject({
      spec: { selector: { 'k8s-app': 'kube-dns' } },
    });
    expect(named(layout, 'Service', 'node-local-dns')).toMatchObject({
      spec: { clusterIP: 'None', ports: [{ port: 9253 }] },
    });
  });

  it('has flags that are accepted, and a template whose Corefile is', () => {
    expect(words[0]).toBe('node-cache');
    const reading = readNodeCacheFlags(words.slice(1));
    if (reading.kind !== 'good') throw new Error(JSON.stringify(reading));
    const { localAddresses, port, prometheusAddress } = reading.plan;
    const { text } = renderCorefile(readCorefileText(layout, 'node-local-dns'), {
      localAddresses,
      clusterDns: '10.96.0.11',
      port: String(port),
      prometheusAddress,
      upstreams: ['192.0.2.1'],
      stubDomains: new Map(),
    });
    expect(text).not.toContain('__PILLAR__');
    expect(readProblems(text)).toEqual([]);
  });

  it('has rights on the node only where it sets up its network', () => {
    expect(daemonSet.spec.template.spec.hostNetwork ?? false).toBe(usesNode);
    expect(JSON.stringify(daemonSet.spec.template.spec.containers).includes('NET_ADMIN')).toBe(changesNode);
    expect(words.includes('-setupinterface=false')).toBe(!changesNode);
    // Programs that change rules of iptables share it with those of the node.
    const hostPaths = [...JSON.stringify(daemonSet).matchAll(/"hostPath":\{"path":"([^"]*)"/g)];
    expect(hostPaths.map(([, path]) => path)).toEqual(changesNode ? ['/run/xtables.lock'] : []);
    // The programs for that are in the image of the target node-cache alone.
    expect(container?.image).toBe(usesNode ? IMAGE.replace(':', '-node-cache:') : IMAGE);
  });
});

it('the manifest node-local-init changes the network of the node before the server starts, and then no more', () => {
  const { spec } = named('node-local-init', 'DaemonSet', 'node-local-dns') as Manifest & {
    spec: { template: { spec: NodeLocalPod } };
  };
  const { initContainers = [], containers } = spec.template.spec;
  expect(JSON.stringify(initContainers)).toContain('"capabilities":{"drop":["ALL"],"add":["NET_ADMIN"]}');
  expect(JSON.stringify(containers)).toContain('"capabilities":{"drop":["ALL"],"add":["NET_BIND_SERVICE"]}');
  const plans = [...initContainers, ...containers].map(({ args }) => {
    const reading = readNodeCacheFlags(resolveAlias('/node-cache', args).slice(1));
    return reading.kind === 'good' ? reading.plan : undefined;
  });
  expect(plans).toMatchObject([
    { localAddresses: ['169.254.20.10'], setsUpOnly: true, interfaceName: 'nodelocaldns' },
    { localAddresses: ['169.254.20.10'], setsUpOnly: false, interfaceName: undefined, rules: 'none' },
  ]);
});
