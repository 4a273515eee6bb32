/**
 * The DNS programs of clusters as their own manifests describe them, in the fields that decide whether another image starts in their
 * place: command line, rights, limits, probes, mounts, ports and rules. Described by hand, one function for each source.
 */
import type { KubernetesObject } from '../api-server/object-store.ts';

const NAMESPACE = 'kube-system';
const DNS_LABELS = { 'k8s-app': 'kube-dns' };
const ROLLED_OUT = {
  observedGeneration: 1,
  replicas: 2,
  updatedReplicas: 2,
  readyReplicas: 2,
  availableReplicas: 2,
};

export const KUBEADM_COREFILE = `.:53 {
    errors
    health {
       lameduck 5s
    }
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus :9153
    forward . 192.0.2.1 {
       max_concurrent 1000
    }
    cache 30
    loop
    reload
    loadbalance
}
`;

/** CoreDNS of kubeadm 1.31. @param image of the Deployment */
export function kubeadmCoreDns(
  image = 'registry.k8s.io/coredns/coredns:v1.11.3',
): readonly KubernetesObject[] {
  return [
    {
      kind: 'Deployment',
      metadata: { name: 'coredns', namespace: NAMESPACE, labels: DNS_LABELS, generation: 1 },
      spec: {
        replicas: 2,
        selector: { matchLabels: DNS_LABELS },
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
        template: {
          metadata: { labels: DNS_LABELS },
          spec: {
            serviceAccountName: 'coredns',
            dnsPolicy: 'Default',
            containers: [
              {
                name: 'coredns',
                image,
                args: ['-conf', '/etc/coredns/Corefile'],
                resources: { limits: { memory: '170Mi' }, requests: { cpu: '100m', memory: '70Mi' } },
                ports: [
                  { containerPort: 53, name: 'dns', protocol: 'UDP' },
                  { containerPort: 53, name: 'dns-tcp', protocol: 'TCP' },
                  { containerPort: 9153, name: 'metrics', protocol: 'TCP' },
                ],
                securityContext: {
                  allowPrivilegeEscalation: false,
                  readOnlyRootFilesystem: true,
                  capabilities: { add: ['NET_BIND_SERVICE'], drop: ['ALL'] },
                },
                volumeMounts: [{ name: 'config-volume', mountPath: '/etc/coredns', readOnly: true }],
              },
            ],
            volumes: [
              {
                name: 'config-volume',
                configMap: { name: 'coredns', items: [{ key: 'Corefile', path: 'Corefile' }] },
              },
            ],
          },
        },
      },
      status: ROLLED_OUT,
    },
    configMap('coredns', { Corefile: KUBEADM_COREFILE }),
    dnsService('kube-dns', [9153]),
    ...bound('coredns', 'system:coredns', [
      {
        apiGroups: [''],
        resources: ['endpoints', 'services', 'pods', 'namespaces'],
        verbs: ['list', 'watch'],
      },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ]),
    linuxNode('node-1', 'containerd://1.7.24'),
  ];
}

/** kube-dns of the addons of Kubernetes, with its three containers. */
export function addonKubeDns(): readonly KubernetesObject[] {
  const zones = ['/cluster.local/', '/in-addr.arpa/', '/ip6.arpa/'];
  const probe = (name: string, port: number) =>
    `--probe=${name},127.0.0.1:${port},kubernetes.default.svc.cluster.local,5,SRV`;
  const user = {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsUser: 1001,
    runAsGroup: 1001,
  };
  const image = (part: string) => `registry.k8s.io/dns/k8s-dns-${part}:1.23.1`;
  return [
    {
      kind: 'Deployment',
      metadata: {
        name: 'kube-dns',
        namespace: NAMESPACE,
        labels: { ...DNS_LABELS, 'addonmanager.kubernetes.io/mode': 'Reconcile' },
        generation: 1,
      },
      spec: {
        replicas: 2,
        selector: { matchLabels: DNS_LABELS },
        strategy: { rollingUpdate: { maxSurge: '10%', maxUnavailable: 0 } },
        template: {
          metadata: { labels: DNS_LABELS },
          spec: {
            serviceAccountName: 'kube-dns',
            containers: [
              {
                name: 'kubedns',
                image: image('kube-dns'),
                args: [
                  '--domain=cluster.local.',
                  '--dns-port=10053',
                  '--config-dir=/kube-dns-config',
                  '--v=2',
                ],
                resources: { limits: { memory: '170Mi' }, requests: { cpu: '100m', memory: '70Mi' } },
                ports: [{ containerPort: 10055, name: 'metrics' }],
                securityContext: user,
                volumeMounts: [{ name: 'kube-dns-config', mountPath: '/kube-dns-config' }],
              },
              {
                name: 'dnsmasq',
                image: image('dnsmasq-nanny'),
                args: [
                  '-v=2',
                  '-logtostderr',
                  '-configDir=/etc/k8s/dns/dnsmasq-nanny',
                  '-restartDnsmasq=true',
                  '--',
                  '-k',
                  '--cache-size=1000',
                  '--no-negcache',
                  '--dns-loop-detect',
                  '--log-facility=-',
                  ...zones.map((zone) => `--server=${zone}127.0.0.1#10053`),
                ],
                resources: { requests: { cpu: '150m', memory: '20Mi' } },
                securityContext: { capabilities: { drop: ['all'], add: ['NET_BIND_SERVICE', 'SETGID'] } },
                volumeMounts: [{ name: 'kube-dns-config', mountPath: '/etc/k8s/dns/dnsmasq-nanny' }],
              },
              {
                name: 'sidecar',
                image: image('sidecar'),
                args: ['--v=2', '--logtostderr', probe('kubedns', 10053), probe('dnsmasq', 53)],
                resources: { requests: { memory: '20Mi', cpu: '10m' } },
                ports: [{ containerPort: 10054, name: 'metrics' }],
                securityContext: user,
              },
            ],
            volumes: [{ name: 'kube-dns-config', configMap: { name: 'kube-dns', optional: true } }],
          },
        },
      },
      status: ROLLED_OUT,
    },
    dnsService('kube-dns', [10054]),
    ...bound('kube-dns', 'system:kube-dns', [
      { apiGroups: [''], resources: ['endpoints', 'services'], verbs: ['list', 'watch'] },
    ]),
    linuxNode('node-1', 'containerd://1.7.24'),
  ];
}

const LOCAL_DNS = '__PILLAR__LOCAL__DNS__';
const NODE_TEMPLATE = `cluster.local:53 {
    errors
    cache 30
    reload
    loop
    bind 169.254.20.10 10.96.0.10
    forward . __PILLAR__CLUSTER__DNS__ {
            force_tcp
    }
    prometheus :9253
    health 169.254.20.10:8080
    }
.:53 {
    errors
    cache 30
    reload
    loop
    bind 169.254.20.10 10.96.0.10
    forward . __PILLAR__UPSTREAM__SERVERS__
    prometheus :9253
    }
`;

/** nodelocaldns of the addons of Kubernetes, filled in for kube-proxy in iptables mode. */
export function addonNodeLocalDns(): readonly KubernetesObject[] {
  return [
    {
      kind: 'DaemonSet',
      metadata: {
        name: 'node-local-dns',
        namespace: NAMESPACE,
        labels: { 'k8s-app': 'node-local-dns' },
        generation: 1,
      },
      spec: {
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
        selector: { matchLabels: { 'k8s-app': 'node-local-dns' } },
        template: {
          metadata: { labels: { 'k8s-app': 'node-local-dns' } },
          spec: {
            serviceAccountName: 'node-local-dns',
            hostNetwork: true,
            dnsPolicy: 'Default',
            containers: [
              {
                name: 'node-cache',
                image: 'registry.k8s.io/dns/k8s-dns-node-cache:1.23.1',
                args: [
                  '-localip',
                  '169.254.20.10,10.96.0.10',
                  '-conf',
                  '/etc/Corefile',
                  '-upstreamsvc',
                  'kube-dns-upstream',
                ],
                resources: { requests: { cpu: '25m', memory: '5Mi' } },
                securityContext: { capabilities: { add: ['NET_ADMIN'] } },
                ports: [
                  { containerPort: 53, name: 'dns', protocol: 'UDP' },
                  { containerPort: 53, name: 'dns-tcp', protocol: 'TCP' },
                  { containerPort: 9253, name: 'metrics', protocol: 'TCP' },
                ],
                volumeMounts: [
                  { mountPath: '/run/xtables.lock', name: 'xtables-lock', readOnly: false },
                  { name: 'config-volume', mountPath: '/etc/coredns' },
                  { name: 'kube-dns-config', mountPath: '/etc/kube-dns' },
                ],
              },
            ],
            volumes: [
              { name: 'xtables-lock', hostPath: { path: '/run/xtables.lock', type: 'FileOrCreate' } },
              { name: 'kube-dns-config', configMap: { name: 'kube-dns', optional: true } },
              {
                name: 'config-volume',
                configMap: { name: 'node-local-dns', items: [{ key: 'Corefile', path: 'Corefile.base' }] },
              },
            ],
          },
        },
      },
      status: {
        observedGeneration: 1,
        desiredNumberScheduled: 3,
        numberReady: 3,
        updatedNumberScheduled: 3,
        numberAvailable: 3,
      },
    },
    configMap('node-local-dns', { Corefile: NODE_TEMPLATE.replaceAll(LOCAL_DNS, '169.254.20.10') }),
    dnsService('kube-dns-upstream', []),
    linuxNode('node-1', 'containerd://1.7.24'),
  ];
}

export function configMap(name: string, data: Readonly<Record<string, string>>): KubernetesObject {
  return { kind: 'ConfigMap', metadata: { name, namespace: NAMESPACE }, data };
}

function dnsService(name: string, metricsPorts: readonly number[]): KubernetesObject {
  const annotations = metricsPorts.map((port) => ({
    'prometheus.io/port': String(port),
    'prometheus.io/scrape': 'true',
  }));
  return {
    kind: 'Service',
    metadata: { name, namespace: NAMESPACE, labels: DNS_LABELS, annotations: annotations[0] ?? {} },
    spec: {
      clusterIP: '10.96.0.10',
      selector: DNS_LABELS,
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, protocol: 'TCP' },
        ...metricsPorts.map((port) => ({ name: 'metrics', port, protocol: 'TCP' })),
      ],
    },
  };
}

function bound(account: string, role: string, rules: readonly object[]): readonly KubernetesObject[] {
  return [
    { kind: 'ClusterRole', metadata: { name: role }, rules },
    {
      kind: 'ClusterRoleBinding',
      metadata: { name: role },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace: NAMESPACE }],
    },
  ];
}

export function linuxNode(name: string, runtime: string): KubernetesObject {
  return {
    kind: 'Node',
    metadata: { name },
    status: {
      nodeInfo: {
        operatingSystem: 'linux',
        architecture: 'amd64',
        kernelVersion: '6.1.0-30-amd64',
        containerRuntimeVersion: runtime,
        kubeletVersion: 'v1.31.4',
      },
    },
  };
}
