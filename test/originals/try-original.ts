/**
 * Starts Portolan's images in place of an original's, by its own manifest, and asks them.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import type { Image } from '../image/unpack-image.ts';
import type { OriginalCase } from './cases.ts';
import { type OriginalManifest, readOriginal } from './original.ts';
import { type MemoryUse, OriginalPod, POD_ADDRESS } from './original-pod.ts';

export interface OriginalsSetting {
  readonly folder: TemporaryFolder;
  readonly loadImage: (target: string) => Promise<Image>;
  /** The folder of the service account. */
  readonly account: string;
  /** The API server double, as a file that node runs. */
  readonly apiServer: string;
}

/** The cluster: two nodes, and what the originals look for by name. */
const NODES = ['node-1', 'node-2'].map((name) => ({
  kind: 'Node',
  metadata: { name },
  status: {
    capacity: { cpu: '4' },
    allocatable: { cpu: '4' },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
}));
const CLUSTER = [
  { kind: 'Namespace', metadata: { name: 'default' } },
  { kind: 'Namespace', metadata: { name: 'kube-system' } },
  {
    kind: 'Service',
    metadata: { name: 'kubernetes', namespace: 'default' },
    spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, protocol: 'TCP' }] },
  },
  {
    kind: 'Deployment',
    metadata: { name: 'coredns', namespace: 'kube-system' },
    spec: { replicas: 1, selector: { matchLabels: { 'k8s-app': 'kube-dns' } }, template: {} },
    status: { replicas: 1 },
  },
  ...NODES,
];

/** @returns what each container used in the end @throws if anything is otherwise than with the original */
export async function tryOriginal(
  original: OriginalCase,
  setting: OriginalsSetting,
): Promise<readonly MemoryUse[]> {
  return await tryManifest({ ...original, manifest: readOriginal(original.manifest) }, setting);
}

/** A manifest, and what is asked of its pod. */
export type ManifestCase = Omit<OriginalCase, 'manifest' | 'title'> & { readonly manifest: OriginalManifest };

/** @returns what each container used in the end @throws if the pod does not answer as it must */
export async function tryManifest(
  { id, manifest, asks, services = 0, memory = {}, replicas }: ManifestCase,
  { folder, loadImage, account, apiServer }: OriginalsSetting,
): Promise<readonly MemoryUse[]> {
  const objects = await folder.write(
    'cluster.json',
    CLUSTER.map((object) => JSON.stringify(object)).join('\n---\n'),
  );
  const place = join(folder.path, `original-${id}`);
  await mkdir(place);
  const size = ['--services', String(services), '--endpoints', '4'];
  const pod = await OriginalPod.start({
    folder: place,
    id: `portolan-test-${process.pid}-${id}`,
    manifest,
    memory,
    loadImage,
    account,
    apiServer: [process.execPath, apiServer, '--tls', '--objects', objects, ...size],
  });
  try {
    const servers = manifest.spec.hostNetwork === true ? ['169.254.20.10', '10.96.0.10'] : [POD_ADDRESS];
    for (const server of servers)
      for (const [question, answer] of asks)
        for (const transport of ['+notcp', '+tcp'] as const)
          await pod.answers(server, question, answer, transport);
    await pod.passesProbes();
    if (replicas !== undefined)
      await pod.hasObject(
        '/apis/apps/v1/namespaces/kube-system/deployments/coredns',
        `"replicas":${replicas}`,
      );
    return pod.memory();
  } finally {
    await pod.end();
  }
}
