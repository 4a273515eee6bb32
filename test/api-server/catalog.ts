/**
 * The kinds of object that the API server double can serve, and their paths.
 */
export interface CatalogEntry {
  readonly kind: string;
  /** The name in paths. */
  readonly plural: string;
  /** Empty for the core group. */
  readonly group: string;
  readonly namespaced: boolean;
  /** The fields of an object without content, as bookmarks carry it. */
  readonly empty?: string;
  /** Whether it has a scale subresource, over its `spec.replicas`. */
  readonly hasScale?: boolean;
}

const EMPTY_SERVICE = '"spec":{},"status":{"loadBalancer":{}}';
const EMPTY_SLICE = '"addressType":"","endpoints":null,"ports":null';

export const catalog: readonly CatalogEntry[] = [
  { kind: 'Service', plural: 'services', group: '', namespaced: true, empty: EMPTY_SERVICE },
  { kind: 'Endpoints', plural: 'endpoints', group: '', namespaced: true, empty: '' },
  { kind: 'Namespace', plural: 'namespaces', group: '', namespaced: false },
  { kind: 'Node', plural: 'nodes', group: '', namespaced: false },
  { kind: 'Pod', plural: 'pods', group: '', namespaced: true },
  { kind: 'ConfigMap', plural: 'configmaps', group: '', namespaced: true },
  { kind: 'Secret', plural: 'secrets', group: '', namespaced: true },
  {
    kind: 'EndpointSlice',
    plural: 'endpointslices',
    group: 'discovery.k8s.io',
    namespaced: true,
    empty: EMPTY_SLICE,
  },
  { kind: 'Deployment', plural: 'deployments', group: 'apps', namespaced: true, hasScale: true },
  { kind: 'ReplicaSet', plural: 'replicasets', group: 'apps', namespaced: true, hasScale: true },
  { kind: 'DaemonSet', plural: 'daemonsets', group: 'apps', namespaced: true },
  { kind: 'StatefulSet', plural: 'statefulsets', group: 'apps', namespaced: true, hasScale: true },
  {
    kind: 'ReplicationController',
    plural: 'replicationcontrollers',
    group: '',
    namespaced: true,
    hasScale: true,
  },
  { kind: 'ServiceAccount', plural: 'serviceaccounts', group: '', namespaced: true },
  { kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', group: 'policy', namespaced: true },
  { kind: 'Lease', plural: 'leases', group: 'coordination.k8s.io', namespaced: true },
  { kind: 'Event', plural: 'events', group: '', namespaced: true },
  { kind: 'Ingress', plural: 'ingresses', group: 'networking.k8s.io', namespaced: true },
  ...(['ClusterRole', 'ClusterRoleBinding'] as const).map((kind) => ({
    kind,
    plural: `${kind.toLowerCase()}s`,
    group: 'rbac.authorization.k8s.io',
    namespaced: false,
  })),
  ...(['Role', 'RoleBinding'] as const).map((kind) => ({
    kind,
    plural: `${kind.toLowerCase()}s`,
    group: 'rbac.authorization.k8s.io',
    namespaced: true,
  })),
  // Custom resources.
  { kind: 'Gateway', plural: 'gateways', group: 'gateway.networking.k8s.io', namespaced: true },
  { kind: 'HTTPRoute', plural: 'httproutes', group: 'gateway.networking.k8s.io', namespaced: true },
  { kind: 'TLSRoute', plural: 'tlsroutes', group: 'gateway.networking.k8s.io', namespaced: true },
  { kind: 'GRPCRoute', plural: 'grpcroutes', group: 'gateway.networking.k8s.io', namespaced: true },
  { kind: 'DNSEndpoint', plural: 'dnsendpoints', group: 'externaldns.k8s.io', namespaced: true },
  { kind: 'ServiceMonitor', plural: 'servicemonitors', group: 'monitoring.coreos.com', namespaced: true },
  { kind: 'PodMonitor', plural: 'podmonitors', group: 'monitoring.coreos.com', namespaced: true },
  { kind: 'ServiceImport', plural: 'serviceimports', group: 'multicluster.x-k8s.io', namespaced: true },
  {
    kind: 'FelixConfiguration',
    plural: 'felixconfigurations',
    group: 'crd.projectcalico.org',
    namespaced: false,
  },
  { kind: 'Rollout', plural: 'rollouts', group: 'argoproj.io', namespaced: true, hasScale: true },
  // One that tests define in a real cluster.
  { kind: 'Pool', plural: 'pools', group: 'portolan-test.example.com', namespaced: true, hasScale: true },
];

/** `group/version/plural` of all that is served unless told otherwise; the core group is `v1/plural`. */
export const servedByDefault: readonly string[] = [
  'v1/services',
  'v1/endpoints',
  'v1/namespaces',
  'v1/nodes',
  'v1/pods',
  'v1/configmaps',
  'v1/secrets',
  'discovery.k8s.io/v1/endpointslices',
  'apps/v1/deployments',
  'apps/v1/replicasets',
  'apps/v1/daemonsets',
  'apps/v1/statefulsets',
  'v1/replicationcontrollers',
  'v1/serviceaccounts',
  'policy/v1/poddisruptionbudgets',
  'coordination.k8s.io/v1/leases',
  'v1/events',
  'events.k8s.io/v1/events',
  'rbac.authorization.k8s.io/v1/clusterroles',
  'rbac.authorization.k8s.io/v1/clusterrolebindings',
  'rbac.authorization.k8s.io/v1/roles',
  'rbac.authorization.k8s.io/v1/rolebindings',
];

export function findByPlural(plural: string): CatalogEntry | undefined {
  return catalog.find((entry) => entry.plural === plural);
}

export function findByKind(kind: string): CatalogEntry {
  const entry = catalog.find((candidate) => candidate.kind === kind);
  if (entry === undefined) throw new Error(`the API server double knows no such kind: ${kind}`);
  return entry;
}
