/**
 * The objects of the recorded answers.
 */
import { readFileSync } from 'node:fs';
import { parseManifest } from '@portolan/kubernetes/manifests/parse-manifest.ts';
import type { ClusterObject } from '@portolan/kubernetes/objects/objects.ts';

/** What the recorder's cluster had besides the objects of the file. */
const GIVEN: readonly ClusterObject[] = [
  { kind: 'Namespace', name: 'default' },
  {
    kind: 'Service',
    namespace: 'default',
    name: 'kubernetes',
    address: { kind: 'clusterIPs', addresses: ['10.96.0.1'] },
    ports: [{ name: 'https', protocol: 'TCP', port: 443 }],
  },
];

export function goldenObjects(): readonly ClusterObject[] {
  const file = new URL('objects.yaml', import.meta.url);
  const { objects } = parseManifest('objects.yaml', readFileSync(file, 'utf8'));
  return [...GIVEN, ...objects.map(({ object }) => object)];
}
