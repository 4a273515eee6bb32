/**
 * The manifests, per layout: everything that an operator of kube-dns expects.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { FOLDERS, IMAGE, type PodSpec, readContainers, readDeployment, readLayout } from './manifests.ts';
import type { Kustomization } from './patches.ts';

const CLUSTER_SERVICE = {
  'kubernetes.io/cluster-service': 'true',
  'addonmanager.kubernetes.io/mode': 'Reconcile',
};

const MEBIBYTES: unknown = expect.stringMatching(/^\d+Mi$/);

function httpGet(path: string, port: number): object {
  return { httpGet: { path, port, scheme: 'HTTP' } };
}

describe.each(['one', 'three'] as const)('the layout of %s', (layout) => {
  const objects = readLayout(layout);
  const named = (kind: string, name = 'kube-dns') =>
    objects.find((object) => object.kind === kind && object.metadata.name === name);
  const deployment = readDeployment(layout);
  const { template } = deployment.spec;
  const containers = readContainers(layout);

  it('names nothing twice, and has labels of the addon manager on all', () => {
    const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    for (const { metadata } of objects) expect(metadata.labels).toMatchObject(CLUSTER_SERVICE);
  });

  it('has the Service kube-dns with a fixed address', () => {
    expect(named('Service')).toMatchObject({
      metadata: {
        namespace: 'kube-system',
        labels: { 'k8s-app': 'kube-dns', 'kubernetes.io/name': 'KubeDNS', ...CLUSTER_SERVICE },
      },
      spec: {
        selector: { 'k8s-app': 'kube-dns' },
        clusterIP: '10.96.0.10',
        ports: [
          { name: 'dns', port: 53, protocol: 'UDP' },
          { name: 'dns-tcp', port: 53, protocol: 'TCP' },
        ],
      },
    });
  });

  it('rolls over without a gap, and leaves the number of replicas to others', () => {
    expect(deployment.spec).not.toHaveProperty('replicas');
    expect(deployment).toMatchObject({
      metadata: {
        name: 'kube-dns',
        namespace: 'kube-system',
        labels: { 'k8s-app': 'kube-dns', 'kubernetes.io/name': 'KubeDNS' },
      },
      spec: {
        selector: { matchLabels: { 'k8s-app': 'kube-dns' } },
        strategy: { rollingUpdate: { maxSurge: '10%', maxUnavailable: 0 } },
      },
    });
    expect(deployment.spec.selector).toEqual({ matchLabels: { 'k8s-app': 'kube-dns' } });
  });

  it('is scraped, and runs where kube-dns does', () => {
    expect(template).toMatchObject({
      metadata: {
        labels: { 'k8s-app': 'kube-dns' },
        annotations: { 'prometheus.io/port': '10054', 'prometheus.io/scrape': 'true' },
      },
      spec: {
        dnsPolicy: 'Default',
        serviceAccountName: 'kube-dns',
        priorityClassName: 'system-cluster-critical',
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        tolerations: [
          { key: 'CriticalAddonsOnly', operator: 'Exists' },
          { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' },
        ],
      },
    });
    expect(named('ServiceAccount')).toBeDefined();
  });

  it('is spread over nodes and zones, and gives up one pod at a time', () => {
    const labelSelector = { matchLabels: { 'k8s-app': 'kube-dns' } };
    const onNodes = { topologyKey: 'kubernetes.io/hostname', labelSelector };
    expect(template.spec).toMatchObject({
      affinity: {
        podAntiAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: onNodes }],
        },
      },
      topologySpreadConstraints: [
        { topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'ScheduleAnyway', labelSelector },
      ],
    });
    expect(named('PodDisruptionBudget')).toMatchObject({
      spec: { maxUnavailable: 1, selector: { matchLabels: { 'k8s-app': 'kube-dns' } } },
    });
  });

  it('may do next to nothing', () => {
    expect(template.spec).toMatchObject({
      securityContext: {
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
        sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
      },
    });
    for (const container of containers) {
      const opensPort53 = ['portolan', 'dnsmasq'].includes(container.name);
      expect(container).toMatchObject({
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'], ...(opensPort53 ? { add: ['NET_BIND_SERVICE'] } : {}) },
        },
        resources: {
          requests: { cpu: expect.stringMatching(/^\d+m$/), memory: MEBIBYTES },
          limits: { memory: MEBIBYTES },
        },
      });
      expect(container).not.toHaveProperty('resources.limits.cpu');
      if (!opensPort53) expect(container).not.toHaveProperty('securityContext.capabilities.add');
    }
  });

  it('runs the image of this version, and none that is `latest`', () => {
    expect(containers.map(({ image }) => image)).toEqual(containers.map(() => IMAGE));
    expect(JSON.stringify(objects)).not.toContain('latest');
  });

  it('asks for the least of the API server', () => {
    const roles = objects.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role');
    const watched = { apiGroups: [''], resources: ['services', 'endpoints'], verbs: ['list', 'watch'] };
    const slices = {
      apiGroups: ['discovery.k8s.io'],
      resources: ['endpointslices'],
      verbs: ['list', 'watch'],
    };
    const identity = {
      apiGroups: [''],
      resources: ['namespaces'],
      resourceNames: ['kube-system'],
      verbs: ['get'],
    };
    const configMap = {
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: ['kube-dns'],
      verbs: ['get', 'watch'],
    };
    expect(roles).toMatchObject([
      { kind: 'ClusterRole', rules: [watched, slices] },
      // Three containers have the ConfigMap as files, and no snapshot.
      ...(layout === 'one'
        ? [
            { kind: 'Role', rules: [configMap] },
            { kind: 'ClusterRole', rules: [identity] },
          ]
        : []),
    ]);
    expect(named('Role', 'portolan')?.metadata.namespace).toBe(layout === 'one' ? 'kube-system' : undefined);
  });
});

describe('both layouts', () => {
  it('are the same but for the containers and what these mount', () => {
    const frame = (layout: 'one' | 'three') => {
      const { containers, volumes, ...pod } = readDeployment(layout).spec.template.spec as PodSpec & {
        volumes: unknown;
      };
      expect([containers, volumes]).not.toContain(undefined);
      const { template, ...spec } = readDeployment(layout).spec;
      return { metadata: readDeployment(layout).metadata, spec, labels: template.metadata, pod };
    };
    expect(frame('three')).toEqual(frame('one'));
  });

  it('are chosen in one line', () => {
    const { resources } = parse(readFileSync('deploy/kustomization.yaml', 'utf8')) as Kustomization; // Of our own.
    expect(resources).toEqual(['portolan']);
    expect([FOLDERS.one, FOLDERS.three]).toEqual(['deploy/portolan', 'deploy/kube-dns']);
  });
});

describe('the three containers', () => {
  const [kubedns, dnsmasq, sidecar] = readContainers('three');

  it('have the arguments of kube-dns', () => {
    expect(kubedns).toMatchObject({
      command: ['/kube-dns'],
      args: [
        '--domain=cluster.local.',
        '--dns-port=10053',
        '--config-dir=/kube-dns-config',
        '--v=2',
        '--lameduck=20s',
      ],
      env: [{ name: 'PROMETHEUS_PORT', value: '10055' }],
    });
    expect(dnsmasq?.command).toEqual(['/dnsmasq-nanny']);
    expect(dnsmasq?.args.join(' ')).toBe(
      '-v=2 -logtostderr -configDir=/etc/k8s/dns/dnsmasq-nanny -restartDnsmasq=true -- -k --cache-size=1000 ' +
        '--no-negcache --dns-forward-max=1500 --log-facility=- --server=/cluster.local/127.0.0.1#10053 ' +
        '--server=/in-addr.arpa/127.0.0.1#10053 --server=/ip6.arpa/127.0.0.1#10053',
    );
    expect(sidecar?.command).toEqual(['/sidecar']);
    expect(sidecar?.args.join(' ')).toBe(
      '--v=2 --logtostderr ' +
        '--probe=kubedns,127.0.0.1:10053,kubernetes.default.svc.cluster.local,5,SRV ' +
        '--probe=dnsmasq,127.0.0.1:53,kubernetes.default.svc.cluster.local,5,A',
    );
  });

  it('are probed as those of kube-dns', () => {
    expect(kubedns).toMatchObject({
      livenessProbe: httpGet('/healthcheck/kubedns', 10054),
      readinessProbe: httpGet('/readiness', 8081),
    });
    expect(dnsmasq).toMatchObject({ livenessProbe: httpGet('/healthcheck/dnsmasq', 10054) });
    expect(sidecar).toMatchObject({ livenessProbe: httpGet('/metrics', 10054) });
  });

  it('read the ConfigMap kube-dns where it is, from one volume', () => {
    expect(readDeployment('three').spec.template.spec).toMatchObject({
      volumes: [
        { name: 'kube-dns-config', configMap: { name: 'kube-dns', optional: true } },
        { name: 'run', emptyDir: {} },
      ],
    });
    // Each server finds its own control socket alone.
    const mounted = (mountPath: string, subPath: string) => ({
      volumeMounts: [
        { name: 'kube-dns-config', mountPath },
        { name: 'run', mountPath: '/run/portolan', subPath },
      ],
    });
    expect(kubedns).toMatchObject(mounted('/kube-dns-config', 'kubedns'));
    expect(dnsmasq).toMatchObject(mounted('/etc/k8s/dns/dnsmasq-nanny', 'dnsmasq'));
  });

  it('stop one after the other: dnsmasq, then the one that it asks, both within the grace period', () => {
    // dnsmasq ends when no query has arrived for three seconds.
    for (const container of [kubedns, dnsmasq]) expect(container).not.toHaveProperty('lifecycle');
    const { terminationGracePeriodSeconds } = readDeployment('three').spec.template.spec;
    const lameduck = Number(/=(\d+)s$/.exec(kubedns?.args.at(-1) ?? '')?.[1]);
    expect(lameduck).toBeGreaterThan(3);
    expect(terminationGracePeriodSeconds).toBeGreaterThan(lameduck + 5);
  });

  it('are found unready while they serve on, so that kube-proxy forgets them before they end', () => {
    expect(secondsUntilUnready(kubedns)).toBeLessThan(20 / 2);
  });
});

describe('the one container', () => {
  const [portolan] = readContainers('one');

  it('is the pod in one process', () => {
    expect(portolan?.args.slice(0, 3)).toEqual(['serve', '--domain=cluster.local.', '--config-map=kube-dns']);
    expect(portolan).toMatchObject({
      ports: [
        { containerPort: 53, protocol: 'UDP' },
        { containerPort: 53, protocol: 'TCP' },
        ...[10054, 10055, 8081].map((containerPort) => ({ containerPort, protocol: 'TCP' })),
      ],
      livenessProbe: httpGet('/healthz', 8081),
      readinessProbe: httpGet('/readiness', 8081),
    });
  });

  it('has longer to stop than it serves on', () => {
    const lameduck = portolan?.args.find((arg) => arg.startsWith('--lameduck='));
    const seconds = Number(/=(\d+)s$/.exec(lameduck ?? '')?.[1]);
    expect(seconds).toBeGreaterThan(0);
    expect(readDeployment('one').spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(
      2 * seconds,
    );
    expect(secondsUntilUnready(portolan)).toBeLessThan(seconds);
  });
});

/** The longest time until the kubelet takes a server that says so for unready. */
function secondsUntilUnready(container: unknown): number {
  type Probe = { readonly periodSeconds: number; readonly failureThreshold?: number };
  const { readinessProbe } = container as { readonly readinessProbe: Probe }; // The schema test checks the form.
  const { periodSeconds, failureThreshold = 3 } = readinessProbe;
  return periodSeconds * failureThreshold;
}
