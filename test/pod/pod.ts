/**
 * A pod on loopback with an API server double that has the golden cluster, and two outside servers.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import type { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { parseAllDocuments } from 'yaml';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { servedByDefault } from '../api-server/catalog.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { afterFile } from '../support/after-file.ts';
import { ConfigMapVolume, changeConfigMap } from './config-map.ts';
import { LAYOUTS, type Layout, type LayoutName } from './layouts.ts';
import { checkAll, startAll } from './part.ts';
import { untilProbes } from './probes.ts';
import { startExternalServer } from './upstream.ts';

/** What the recorder's cluster had besides the objects of the file, and the Service of the pod itself. */
const GIVEN: readonly KubernetesObject[] = [
  { kind: 'Namespace', metadata: { name: 'default' } },
  { kind: 'Namespace', metadata: { name: 'kube-system' } },
  {
    kind: 'Service',
    metadata: { name: 'kube-dns', namespace: 'kube-system' },
    spec: { clusterIP: '10.96.0.10', ports: [{ name: 'dns', protocol: 'UDP', port: 53 }] },
  },
  {
    kind: 'Service',
    metadata: { name: 'kubernetes', namespace: 'default' },
    spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', protocol: 'TCP', port: 443 }] },
  },
];

export function readGoldenCluster(): readonly KubernetesObject[] {
  const text = readFileSync(new URL('../golden/objects.yaml', import.meta.url), 'utf8');
  // A file of our own.
  return [...GIVEN, ...parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject)];
}

/** What a cluster of the time of kube-dns served: Endpoints, no EndpointSlices. */
export const SERVED_WITHOUT_SLICES = servedByDefault.filter((path) => !path.endsWith('/endpointslices'));

export interface TestUpstreams {
  /** Say 192.0.2.1 and 192.0.2.2 of names that servers do not agree on. */
  readonly first: LoopbackUpstream;
  readonly second: LoopbackUpstream;
}

export async function startTestUpstreams(
  atEnd: (stop: () => Promise<void>) => void = afterFile,
): Promise<TestUpstreams> {
  return {
    first: await startExternalServer('192.0.2.1', atEnd),
    second: await startExternalServer('192.0.2.2', atEnd),
  };
}

export class Pod {
  readonly layout: Layout;
  readonly apiServer: ApiServerDouble;
  readonly outside: TestUpstreams;
  readonly #volume: ConfigMapVolume;

  private constructor(
    layout: Layout,
    apiServer: ApiServerDouble,
    outside: TestUpstreams,
    volume: ConfigMapVolume,
  ) {
    this.layout = layout;
    this.apiServer = apiServer;
    this.outside = outside;
    this.#volume = volume;
  }

  /** For `beforeAll`. It ends after the tests of the file; all probes are healthy when it is there. */
  static async start(name: LayoutName): Promise<Pod> {
    const folder = await makeTemporaryFolder(afterFile);
    const apiServer = await ApiServerDouble.start({
      objects: readGoldenCluster(),
      serves: SERVED_WITHOUT_SLICES,
    });
    afterFile(() => apiServer.stop());
    const outside = await startTestUpstreams();
    const configFolder = join(folder.path, 'kube-dns-config');
    const volume = new ConfigMapVolume(configFolder);
    const layout = await LAYOUTS[name]({
      master: apiServer.url,
      configFolder,
      upstream: outside.first.address,
    });
    const pod = new Pod(layout, apiServer, outside, volume);
    await pod.configure({});
    await startAll(layout.parts, layout.front);
    await pod.untilHealthy();
    return pod;
  }

  /** Changes the ConfigMap, of which the upstream servers are the first of the world unless told otherwise. */
  async configure(data: Readonly<Record<string, string>>): Promise<void> {
    const complete = { upstreamNameservers: JSON.stringify([this.outside.first.address]), ...data };
    changeConfigMap(this.apiServer, complete);
    await this.#volume.write(complete);
  }

  async untilHealthy(): Promise<void> {
    await untilProbes(this.layout.probes, 'healthy', { alive: () => checkAll(this.layout.parts) });
  }
}
