/**
 * A cluster for the chart: the API server double, CoreDNS behind the Service kube-dns, and controllers that make pods of Deployments.
 *
 * It notes each moment at which no ready pod is behind the Service: then no pod of the cluster resolves a name.
 */
import { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject, StoredObject } from '../api-server/object-store.ts';

const NAMESPACE = 'kube-system';
export const ADDRESS = '10.96.0.10';
export const COREFILE =
  '.:53 {\n    errors\n    kubernetes cluster.local\n    hosts {\n        192.0.2.1 corp.example\n    }\n}\n';

type Labels = Readonly<Record<string, string>>;

interface Template {
  readonly metadata: { readonly labels: Labels };
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
}

interface DeploymentSpec {
  readonly replicas: number;
  readonly template: Template;
}

/** What the Service kube-dns of kubeadm has. */
const SERVICE: KubernetesObject = {
  kind: 'Service',
  metadata: {
    name: 'kube-dns',
    namespace: NAMESPACE,
    labels: { 'k8s-app': 'kube-dns', 'kubernetes.io/name': 'CoreDNS' },
    annotations: { 'prometheus.io/port': '9153' },
  },
  spec: {
    type: 'ClusterIP',
    selector: { 'k8s-app': 'kube-dns' },
    clusterIP: ADDRESS,
    clusterIPs: [ADDRESS],
    ports: [
      { name: 'dns', port: 53, protocol: 'UDP', targetPort: 53 },
      { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 53 },
      { name: 'metrics', port: 9153, protocol: 'TCP', targetPort: 9153 },
    ],
  },
};

const COREDNS: readonly KubernetesObject[] = [
  SERVICE,
  { kind: 'ConfigMap', metadata: { name: 'coredns', namespace: NAMESPACE }, data: { Corefile: COREFILE } },
  {
    kind: 'Deployment',
    metadata: { name: 'coredns', namespace: NAMESPACE },
    spec: {
      replicas: 2,
      selector: { matchLabels: { 'k8s-app': 'kube-dns' } },
      template: {
        metadata: { labels: { 'k8s-app': 'kube-dns' } },
        spec: { containers: [{ name: 'coredns', image: 'registry.k8s.io/coredns/coredns:v1.12.1' }] },
      },
    },
  },
];

export class ChartCluster {
  readonly double: ApiServerDouble;
  /** Images that no registry has: their pods never become ready. */
  readonly missingImages: Set<string>;
  /** Each moment without a pod behind the Service. */
  readonly silences: string[] = [];

  private constructor(double: ApiServerDouble, missingImages: readonly string[]) {
    this.double = double;
    this.missingImages = new Set(missingImages);
    for (const plural of ['deployments', 'pods', 'services'])
      double.store.subscribe(plural, ({ type, object }) => {
        // After the answer to the change, as controllers that watch.
        if (plural === 'deployments') setImmediate(() => this.#reconcile());
        if (this.ready().length === 0) this.silences.push(`${type} ${plural}/${object.name}`);
      });
  }

  /** @param dns whether CoreDNS answers there */
  static async start(dns: 'coredns' | 'none', missingImages: readonly string[] = []): Promise<ChartCluster> {
    const double = await ApiServerDouble.start({ release: '1.34.0' });
    double.put({ kind: 'Namespace', metadata: { name: NAMESPACE } });
    const cluster = new ChartCluster(double, missingImages);
    if (dns === 'coredns') for (const object of COREDNS) double.put(object);
    cluster.#reconcile();
    cluster.silences.length = 0;
    return cluster;
  }

  get(plural: string, name: string): KubernetesObject | undefined {
    return this.double.store.get(plural, `${NAMESPACE}/${name}`)?.object;
  }

  getSpec(plural: string, name: string): unknown {
    return this.get(plural, name)?.['spec'];
  }

  /** The pods that the Service kube-dns sends queries to, by their Deployments. */
  ready(service = 'kube-dns'): readonly string[] {
    const { selector = {} } = (this.getSpec('services', service) ?? {}) as { readonly selector?: Labels };
    if (Object.keys(selector).length === 0) return [];
    return this.double.store
      .list('pods')
      .filter((pod) => isReady(pod) && matches(getLabels(pod), selector))
      .map(({ name }) => name.replace(/-[^-]+$/, ''));
  }

  /** All objects but the namespace and pods, as `kind/name`. */
  objects(): readonly string[] {
    return this.double.serves
      .map((served) => served.split('/').at(-1) ?? '')
      .filter((plural) => !['pods', 'namespaces', 'events'].includes(plural))
      .flatMap((plural) => this.double.store.list(plural).map(({ name }) => `${plural}/${name}`));
  }

  /** A rollout with no pod taken away before a new one is ready. */
  #reconcile(): void {
    const { store } = this.double;
    const deployments = store.list('deployments');
    for (const pod of store.list('pods'))
      if (!deployments.some(({ name }) => pod.name.startsWith(`${name}-`))) store.delete('pods', pod.key);
    for (const { object } of deployments) this.#rollOut(object);
  }

  #rollOut(deployment: KubernetesObject): void {
    const { name, namespace } = deployment.metadata;
    const { replicas = 1, template } = deployment['spec'] as DeploymentSpec;
    const isReadyImage = template.spec.containers.every(({ image }) => !this.missingImages.has(image));
    const revision = JSON.stringify(template);
    const own = this.double.store.list('pods').filter((pod) => pod.name.startsWith(`${name}-`));
    const [current, former] = [
      own.filter((pod) => hasRevision(pod, revision)),
      own.filter((pod) => !hasRevision(pod, revision)),
    ];
    for (let at = current.length; at < replicas; at++)
      this.double.put(makePod(`${name}-${this.double.store.version}`, template, revision, isReadyImage));
    const gone = isReadyImage || replicas === 0 ? former : [];
    for (const pod of [...gone, ...current.slice(replicas)]) this.double.store.delete('pods', pod.key);
    const updatedReplicas = isReadyImage ? replicas : 0;
    const status = { updatedReplicas, readyReplicas: isReadyImage ? replicas : former.length, revision };
    if (JSON.stringify(deployment['status']) !== JSON.stringify(status))
      this.double.put({
        ...deployment,
        metadata: { ...deployment.metadata, namespace: namespace ?? NAMESPACE },
        status,
      });
  }
}

function makePod(
  name: string,
  template: Template,
  revision: string,
  isReadyImage: boolean,
): KubernetesObject {
  const conditions = [{ type: 'Ready', status: isReadyImage ? 'True' : 'False' }];
  return {
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE, labels: template.metadata.labels },
    status: { conditions, revision },
  };
}

const getStatus = ({ object }: StoredObject) =>
  object['status'] as {
    readonly revision: string;
    readonly conditions: readonly { readonly status: string }[];
  };
const isReady = (pod: StoredObject): boolean => getStatus(pod).conditions[0]?.status === 'True';
const hasRevision = (pod: StoredObject, revision: string): boolean => getStatus(pod).revision === revision;
const getLabels = ({ object }: StoredObject) => (object.metadata['labels'] ?? {}) as Labels;
const matches = (labels: Labels, selector: Labels): boolean =>
  Object.entries(selector).every(([key, value]) => labels[key] === value);
