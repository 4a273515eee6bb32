/**
 * The values of the Helm chart: one table, from which values.yaml, values.schema.json and the table of its README are made.
 *
 * Keys that the charts of CoreDNS have mean the same here. Where a default differs, its text says why.
 */

/** A part of JSON Schema, draft 7, which Helm reads. */
export type ValueSchema = Readonly<Record<string, unknown>>;

export interface ChartValue {
  /** With dots between levels. */
  readonly key: string;
  readonly schema: ValueSchema;
  readonly default: unknown;
  /** The effect, in one sentence without a final full stop. */
  readonly text: string;
}

const text: ValueSchema = { type: 'string' };
const flag: ValueSchema = { type: 'boolean' };
const count: ValueSchema = { type: 'integer', minimum: 0 };
/** Parts of the Kubernetes API, which the API server checks. */
const object: ValueSchema = { type: ['object', 'null'] };
const list: ValueSchema = { type: 'array' };
const texts: ValueSchema = { type: 'array', items: { type: 'string' } };
const stringMap: ValueSchema = {
  type: 'object',
  additionalProperties: { type: ['string', 'boolean', 'number'] },
};
const makeEnumSchema = (...choices: readonly string[]): ValueSchema => ({ type: 'string', enum: choices });
const scalar: ValueSchema = { type: ['string', 'number', 'boolean'] };
const countOrShare: ValueSchema = { type: ['integer', 'string'] };
const port: ValueSchema = { type: 'integer', minimum: 1, maximum: 65535 };

const PLUGIN: ValueSchema = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: { name: text, parameters: scalar, configBlock: text },
};
const SERVERS: ValueSchema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['plugins'],
    additionalProperties: false,
    properties: {
      zones: {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: false,
          properties: {
            zone: text,
            scheme: makeEnumSchema('', 'dns://', 'tls://', 'https://', 'grpc://'),
            use_tcp: flag,
          },
        },
      },
      port,
      servicePort: port,
      nodePort: port,
      hostPort: port,
      plugins: { type: 'array', items: PLUGIN },
    },
  },
};
const ZONE_FILES: ValueSchema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['filename', 'contents'],
    additionalProperties: false,
    properties: { filename: text, domain: text, contents: text },
  },
};
const EXTRA_CONFIG: ValueSchema = {
  type: 'object',
  additionalProperties: { type: 'object', additionalProperties: false, properties: { parameters: scalar } },
};

/** The server block of kubeadm. */
const DEFAULT_SERVERS = [
  {
    zones: [{ zone: '.' }],
    port: 53,
    plugins: [
      { name: 'errors' },
      { name: 'health', configBlock: 'lameduck 5s' },
      { name: 'ready' },
      {
        name: 'kubernetes',
        parameters: 'cluster.local in-addr.arpa ip6.arpa',
        configBlock: 'pods insecure\nfallthrough in-addr.arpa ip6.arpa\nttl 30',
      },
      { name: 'prometheus', parameters: ':9153' },
      { name: 'forward', parameters: '. /etc/resolv.conf', configBlock: 'max_concurrent 1000' },
      { name: 'cache', parameters: 30 },
      { name: 'loop' },
      { name: 'reload' },
      { name: 'loadbalance' },
    ],
  },
];

const value = (key: string, schema: ValueSchema, fallback: unknown, words: string): ChartValue => ({
  key,
  schema,
  default: fallback,
  text: words,
});

const MAIN: readonly ChartValue[] = [
  value(
    'program',
    makeEnumSchema('coredns', 'serve'),
    'coredns',
    'coredns: a Corefile, made of servers; serve: the flags of portolan serve, and the ConfigMap kube-dns',
  ),
  value('kind', makeEnumSchema('Deployment', 'DaemonSet'), 'Deployment', 'Workload of the servers'),
  value('clusterDomain', text, 'cluster.local', 'Zone of the cluster, clusterDomain of the kubelets'),
  value('extraArgs', texts, [], 'Further flags of the program'),
  value('nameOverride', text, '', 'Replaces the name of the chart in names of objects'),
  value('fullnameOverride', text, '', 'Replaces the names of objects'),
  value('isClusterService', flag, true, 'Whether it is the DNS of the cluster: labels, priority, dnsPolicy'),
  value(
    'k8sAppLabelOverride',
    text,
    '',
    'Label k8s-app; kube-dns if empty, which the Service of a cluster selects',
  ),
  value(
    'replicaCount',
    count,
    2,
    'Pods; the chart of CoreDNS has 1, which an upgrade of its node takes away',
  ),
  value('global.imageRegistry', text, '', 'Registry of all images, instead of image.registry'),
  value('image.registry', text, '', 'Registry'),
  value('image.repository', text, 'portolan', 'Repository'),
  value('image.tag', text, '', 'Tag; the version of the chart if empty'),
  value('image.digest', text, '', 'Digest, which counts before the tag'),
  value(
    'image.pullPolicy',
    makeEnumSchema('Always', 'IfNotPresent', 'Never'),
    'IfNotPresent',
    'When nodes pull it',
  ),
  value('image.pullSecrets', list, [], 'Names of secrets for the registry'),
];

const CONFIGURATION: readonly ChartValue[] = [
  value('servers', SERVERS, DEFAULT_SERVERS, 'Server blocks of the Corefile'),
  value('corefile', text, '', 'The whole Corefile, instead of servers and extraConfig'),
  value('extraConfig', EXTRA_CONFIG, {}, 'Lines before the server blocks, such as import'),
  value('zoneFiles', ZONE_FILES, [], 'Files beside the Corefile, for the plugin file'),
  value('deployment.skipConfig', flag, false, 'Whether the ConfigMap with the Corefile exists already'),
  value('deployment.enabled', flag, true, 'Whether the workload is created'),
  value('deployment.name', text, '', 'Replaces its name'),
  value('deployment.annotations', stringMap, {}, 'Its annotations'),
  value('deployment.selector', object, {}, 'Replaces its selector'),
];

const NETWORK: readonly ChartValue[] = [
  value(
    'serviceType',
    makeEnumSchema('ClusterIP', 'NodePort', 'LoadBalancer'),
    'ClusterIP',
    'Type of the Service',
  ),
  value(
    'service.create',
    flag,
    true,
    'Whether the chart has a Service; if not, `service.name` is the live one, which selects the pods',
  ),
  value(
    'service.adopt',
    flag,
    false,
    'Whether `service.name` is a live Service: its selector and ports stay, and `helm uninstall` keeps it',
  ),
  value('service.name', text, '', 'Replaces its name'),
  value(
    'service.clusterIP',
    text,
    '',
    'Its address: clusterDNS of the kubelets, in a cluster that has no DNS yet; it can never change',
  ),
  value('service.clusterIPs', texts, [], 'Its addresses of both families'),
  value('service.ipFamilyPolicy', text, '', 'SingleStack, PreferDualStack or RequireDualStack'),
  value('service.loadBalancerIP', text, '', 'Address that a load balancer is asked for'),
  value('service.loadBalancerClass', text, '', 'Class of the load balancer'),
  value('service.externalIPs', texts, [], 'Further addresses'),
  value('service.externalTrafficPolicy', text, '', 'Cluster or Local'),
  value('service.internalTrafficPolicy', text, '', 'Cluster or Local; Local suits a DaemonSet'),
  value('service.trafficDistribution', text, '', 'PreferSameZone or PreferSameNode'),
  value('service.annotations', stringMap, {}, 'Its annotations'),
  value(
    'service.selector',
    object,
    {},
    'Replaces its selector; with `service.adopt` it is only the label k8s-app, if empty',
  ),
  value('events.enabled', flag, false, 'Whether findings become Kubernetes Events, also on the Service'),
  value('networkPolicy.enabled', flag, false, 'Whether a NetworkPolicy is created'),
  value('networkPolicy.metricsFrom', list, [], 'Peers that may scrape; all if empty'),
  value(
    'networkPolicy.allowDnsFor',
    texts,
    [],
    'Namespaces that get a policy which lets their pods ask the servers',
  ),
];

const RIGHTS: readonly ChartValue[] = [
  value(
    'serviceAccount.create',
    flag,
    true,
    'Whether the account is created; the chart of CoreDNS leaves it out, and binds rights to it',
  ),
  value('serviceAccount.name', text, '', 'Replaces its name'),
  value('serviceAccount.annotations', stringMap, {}, 'Its annotations'),
  value('rbac.create', flag, true, 'Whether its rights are created'),
  value(
    'rbac.nodes',
    flag,
    false,
    'Whether it may follow nodes, as `prefer_zone` and `endpoint_ranges nodes` need',
  ),
  value(
    'rbac.pods',
    flag,
    false,
    'Whether it may follow pods and namespaces, as `--tenants` and `--pods=verified` need; with a Corefile it always may',
  ),
  value(
    'rbac.serviceImports',
    flag,
    false,
    'Whether it may follow ServiceImports, as `multicluster` of `kubernetes` needs',
  ),
  value('clusterRole.nameOverride', text, '', 'Replaces the name of the ClusterRole'),
  value(
    'podSecurityContext',
    object,
    {
      runAsNonRoot: true,
      runAsUser: 1001,
      runAsGroup: 1001,
      seccompProfile: { type: 'RuntimeDefault' },
      sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
    },
    'Security context of the pod; the sysctl opens port 53 without root',
  ),
  value(
    'securityContext',
    object,
    {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
    },
    'Security context of the container',
  ),
];

const SCHEDULING: readonly ChartValue[] = [
  value(
    'resources',
    object,
    { limits: { memory: '512Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
    'Resources; without a CPU limit, since a throttled server answers late',
  ),
  value('rollingUpdate.maxUnavailable', countOrShare, 0, 'Pods that an update may take away'),
  value('rollingUpdate.maxSurge', countOrShare, '25%', 'Pods that an update may add'),
  value('terminationGracePeriodSeconds', count, 30, 'Longer than lameduck and the last answers'),
  value(
    'podDisruptionBudget',
    object,
    { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    'Budget of disruptions; none if null',
  ),
  value('priorityClassName', text, '', 'Priority; system-cluster-critical for the DNS of the cluster'),
  value('nodeSelector', object, { 'kubernetes.io/os': 'linux' }, 'Labels of nodes'),
  value(
    'tolerations',
    list,
    [
      { key: 'CriticalAddonsOnly', operator: 'Exists' },
      { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' },
    ],
    'Tolerations',
  ),
  value('affinity', object, {}, 'Affinity; different nodes if possible, if empty'),
  value('topologySpreadConstraints', list, [], 'Spread; over zones if possible, if empty'),
  value('podAnnotations', stringMap, {}, 'Annotations of pods'),
  value('podLabels', stringMap, {}, 'Labels of pods'),
  value('customLabels', stringMap, {}, 'Labels of all objects'),
  value('customAnnotations', stringMap, {}, 'Annotations of all objects'),
  value('dnsPolicy', text, 'Default', "Not the cluster's DNS, which is this pod"),
  value('dnsConfig', object, {}, 'Further lines of its resolv.conf'),
  ...(['liveness', 'readiness'] as const).flatMap((name) => [
    value(`${name}Probe.enabled`, flag, true, `Whether there is a ${name} probe`),
    value(
      `${name}Probe.initialDelaySeconds`,
      count,
      name === 'liveness' ? 60 : 0,
      'Time before the first one',
    ),
    value(`${name}Probe.periodSeconds`, count, name === 'liveness' ? 10 : 2, 'Time between two'),
    value(`${name}Probe.timeoutSeconds`, count, 5, 'Time for an answer'),
    value(
      `${name}Probe.failureThreshold`,
      count,
      name === 'liveness' ? 5 : 3,
      'Failures in a row that count',
    ),
    value(`${name}Probe.successThreshold`, count, 1, 'Successes in a row that count'),
  ]),
  value('env', list, [], 'Variables of the container'),
  value('initContainers', list, [], 'Containers before it'),
  value('extraContainers', list, [], 'Containers beside it'),
  value('extraVolumes', list, [], 'Further volumes'),
  value('extraVolumeMounts', list, [], 'Further volume mounts'),
  value(
    'extraSecrets',
    { type: 'array', items: { type: 'object' } },
    [],
    'Secrets that are mounted: name, mountPath, defaultMode',
  ),
  value('extraObjects', list, [], 'Further objects; templates in them are rendered'),
];

const SCALING: readonly ChartValue[] = [
  value('hpa.enabled', flag, false, 'Whether a HorizontalPodAutoscaler sets the number of pods'),
  value('hpa.minReplicas', count, 2, 'At least'),
  value('hpa.maxReplicas', count, 5, 'At most'),
  value('hpa.metrics', list, [], 'Its metrics; processor time of 60 % if empty'),
  value('autoscaler.enabled', flag, false, 'Whether a pod scales the servers with the cluster'),
  value('autoscaler.coresPerReplica', count, 256, 'Cores for a pod'),
  value('autoscaler.nodesPerReplica', count, 16, 'Nodes for a pod'),
  value('autoscaler.min', count, 0, 'At least'),
  value('autoscaler.max', count, 0, 'At most; 0 is without bound'),
  value('autoscaler.includeUnschedulableNodes', flag, false, 'Whether cordoned nodes count'),
  value('autoscaler.preventSinglePointFailure', flag, true, 'At least two pods if there are two nodes'),
  value('autoscaler.customFlags', texts, [], 'Further flags of portolan autoscaler'),
  value('autoscaler.image', object, {}, 'Not used: the image of the servers has the autoscaler too'),
  value('autoscaler.podAnnotations', stringMap, {}, 'Annotations of its pod'),
  value('autoscaler.priorityClassName', text, '', 'Its priority'),
  value('autoscaler.affinity', object, {}, 'Its affinity'),
  value('autoscaler.nodeSelector', object, {}, 'Its labels of nodes'),
  value('autoscaler.tolerations', list, [], 'Its tolerations'),
  value(
    'autoscaler.resources',
    object,
    { requests: { cpu: '20m', memory: '48Mi' }, limits: { memory: '128Mi' } },
    'Its resources',
  ),
  value('autoscaler.configmap.annotations', stringMap, {}, 'Annotations of its ConfigMap'),
  value('autoscaler.livenessProbe', object, {}, 'Replaces its liveness probe'),
  value('autoscaler.extraContainers', list, [], 'Containers beside it'),
];

const NODE_LOCAL: readonly ChartValue[] = [
  value('nodeLocal.enabled', flag, false, 'Whether every node has a cache, by portolan node-cache'),
  value('nodeLocal.localIp', text, '169.254.20.10', 'Address of the caches'),
  value(
    'nodeLocal.image.repository',
    text,
    'portolan-node-cache',
    'Repository of the image with the programs of a node',
  ),
  value('nodeLocal.resources', object, { requests: { cpu: '25m', memory: '64Mi' } }, 'Resources of a cache'),
  value('nodeLocal.extraArgs', texts, [], 'Further flags of portolan node-cache'),
  value(
    'nodeLocal.tolerations',
    list,
    [
      { key: 'CriticalAddonsOnly', operator: 'Exists' },
      { effect: 'NoExecute', operator: 'Exists' },
      { effect: 'NoSchedule', operator: 'Exists' },
    ],
    'Tolerations of the caches',
  ),
];

const MONITORING: readonly ChartValue[] = [
  value('prometheus.service.enabled', flag, false, 'Whether a Service has the port of metrics'),
  value(
    'prometheus.service.annotations',
    stringMap,
    { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9153' },
    'Its annotations',
  ),
  value('prometheus.service.selector', object, {}, 'Replaces its selector'),
  value(
    'prometheus.monitor.enabled',
    flag,
    false,
    'Whether there is a ServiceMonitor; it needs prometheus.service.enabled',
  ),
  value('prometheus.monitor.additionalLabels', stringMap, {}, 'Its labels'),
  value('prometheus.monitor.namespace', text, '', 'Its namespace'),
  value('prometheus.monitor.interval', text, '', 'Time between two scrapes'),
  value('prometheus.monitor.selector', object, {}, 'Replaces its selector'),
  value('prometheus.podMonitor.enabled', flag, false, 'Whether there is a PodMonitor'),
  value('prometheus.podMonitor.additionalLabels', stringMap, {}, 'Its labels'),
  value('prometheus.podMonitor.interval', text, '', 'Time between two scrapes'),
  value('prometheus.rules.enabled', flag, false, 'Whether there is a PrometheusRule with the alerts'),
  value('prometheus.rules.labels', stringMap, {}, 'Its labels'),
  value('prometheus.rules.disabled', texts, [], 'Names of alerts that are left out'),
  value('prometheus.rules.job', text, '', 'Job in the expressions; the name of the release if empty'),
  value('grafana.dashboards.enabled', flag, false, 'Whether ConfigMaps have the dashboards'),
  value(
    'grafana.dashboards.labels',
    stringMap,
    { grafana_dashboard: '1' },
    'Labels that the sidecar of Grafana looks for',
  ),
];

/** In the order of values.yaml. */
export const CHART_VALUES: readonly ChartValue[] = [
  ...MAIN,
  ...CONFIGURATION,
  ...NETWORK,
  ...RIGHTS,
  ...SCHEDULING,
  ...SCALING,
  ...NODE_LOCAL,
  ...MONITORING,
];
