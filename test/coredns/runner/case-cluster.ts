/**
 * The cluster of the cases: the API server double with the recorded objects, in a process of its own.
 */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { makeTemporaryFolder } from '../../../src/base/testing/temporary-folder.ts';
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
  return objects.filter((object) => object !== null);
}

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
