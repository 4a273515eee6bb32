/**
 * The cluster of the cases: the API server double with the recorded objects, in a process of its own.
 */
import { readFileSync } from 'node:fs';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { parseAllDocuments } from 'yaml';
import type { KubernetesObject } from '../../api-server/object-store.ts';
import { afterFile } from '../../support/after-file.ts';
import { bundleDouble, DoubleProcess } from '../../support/double-process.ts';

export class CaseCluster {
  readonly kubeconfig: string;
  readonly #double: DoubleProcess;

  private constructor(double: DoubleProcess, kubeconfig: string) {
    this.#double = double;
    this.kubeconfig = kubeconfig;
  }

  /** For `beforeAll`. */
  static async start(): Promise<CaseCluster> {
    const double = await DoubleProcess.start(await bundleDouble());
    afterFile(() => double.end());
    const folder = await makeTemporaryFolder(afterFile);
    const kubeconfig = await folder.write('kubeconfig', JSON.stringify(kubeconfigFor(double.url)));
    const cluster = new CaseCluster(double, kubeconfig);
    await double.put(...OWN_OBJECTS);
    await cluster.apply(readFileSync(new URL('../objects.yaml', import.meta.url), 'utf8'));
    return cluster;
  }

  async apply(text: string): Promise<void> {
    await this.#double.put(...readObjects(text));
  }

  async remove(text: string): Promise<void> {
    for (const { kind, metadata } of readObjects(text).toReversed())
      await this.#double.remove(kind, metadata.name, metadata.namespace);
  }
}

function readObjects(text: string): readonly KubernetesObject[] {
  // What the recordings were made with.
  const objects = parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject | null);
  return objects.filter((object) => object !== null).flatMap((object) => [object, ...makeSlices(object)]);
}

interface RecordedAddress {
  readonly ip: string;
  readonly hostname?: string;
  readonly nodeName?: string;
  readonly targetRef?: unknown;
}

interface RecordedSubset {
  readonly addresses?: readonly RecordedAddress[];
  readonly notReadyAddresses?: readonly RecordedAddress[];
  readonly ports?: readonly { readonly name?: string; readonly port: number; readonly protocol?: string }[];
}

/** The EndpointSlices that a cluster makes beside Endpoints. */
function makeSlices({ kind, metadata, ...object }: KubernetesObject): readonly KubernetesObject[] {
  if (kind !== 'Endpoints') return [];
  const subsets = (object['subsets'] ?? []) as readonly RecordedSubset[]; // By the schema of Endpoints.
  return subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }, index) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${metadata.name}-${index}`,
      ...(metadata.namespace && { namespace: metadata.namespace }),
      labels: { ...(metadata['labels'] ?? {}), 'kubernetes.io/service-name': metadata.name },
    },
    addressType: [...addresses, ...notReadyAddresses].some(({ ip }) => ip.includes(':')) ? 'IPv6' : 'IPv4',
    endpoints: [...makeEndpoints(addresses, true), ...makeEndpoints(notReadyAddresses, false)],
    ports: ports.map(({ name = '', port, protocol = 'TCP' }) => ({ name, port, protocol })),
  }));
}

function makeEndpoints(addresses: readonly RecordedAddress[], ready: boolean): readonly object[] {
  return addresses.map(({ ip, ...rest }) => ({ addresses: [ip], ...rest, conditions: { ready } }));
}

/** What an API server makes by itself. */
const OWN_OBJECTS: readonly KubernetesObject[] = [
  ...['default', 'kube-system', 'kube-public', 'kube-node-lease'].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  })),
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kubernetes', namespace: 'default' },
    spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, protocol: 'TCP' }] },
  },
];

function kubeconfigFor(server: string) {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'x',
    contexts: [{ name: 'x', context: { cluster: 'double', user: 'nobody' } }],
    clusters: [{ name: 'double', cluster: { server } }],
    users: [{ name: 'nobody', user: {} }],
  };
}
