/**
 * Every shipped manifest against the schemas of the Kubernetes API.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Manifest, parseManifests, readLayout } from './manifests.ts';
import { KubernetesSchemas, RELEASES } from './schema.ts';

const FILES = readdirSync('deploy', { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(yaml|base)$/.test(path) && !path.endsWith('kustomization.yaml'))
  // Templates of Helm, which test/chart renders.
  .filter((path) => !path.startsWith('chart/'))
  // The manifest for krew, which no API server knows.
  .filter((path) => !path.startsWith('kubectl/'))
  .sort();

/** Its custom resources have schemas of their own. */
const CILIUM = 'cilium.io/';
const NEWER_THAN_1_26: readonly string[] = ['node-local-service/service.yaml'];

describe.each(RELEASES)('the API of Kubernetes %s', (release) => {
  const schemas = new KubernetesSchemas(release);

  const known = FILES.filter((path) => release === 'v1.37' || !NEWER_THAN_1_26.includes(path));
  it.each(known)('takes deploy/%s', (path) => {
    const all = parseManifests(readFileSync(join('deploy', path), 'utf8'));
    expect(all.length).toBeGreaterThan(0);
    const objects = all.filter(({ apiVersion }) => !apiVersion.startsWith(CILIUM));
    expect(objects.flatMap((object) => schemas.complaints(object))).toEqual([]);
  });

  it('would not take a manifest with mistakes', () => {
    const deployment = readLayout('one').find(({ kind }) => kind === 'Deployment');
    const spoil = (change: (text: string) => string): readonly string[] =>
      schemas.complaints(JSON.parse(change(JSON.stringify(deployment))) as Manifest);
    expect(spoil((text) => text)).toEqual([]);
    expect(spoil((text) => text.replace('"dnsPolicy"', '"dnsPolice"'))).toEqual([
      'Deployment.spec.template.spec: no such field: dnsPolice',
    ]);
    expect(spoil((text) => text.replace('"port":8081', '"port":true'))).toEqual([
      'Deployment.spec.template.spec.containers[0].livenessProbe.httpGet.port: ' +
        'fits not one of the alternatives: true',
    ]);
    expect(spoil((text) => text.replace(/"name":"portolan",/, ''))).toEqual([
      'Deployment.spec.template.spec.containers[0]: name is missing',
    ]);
    expect(spoil((text) => text.replace('"runAsUser":1001', '"runAsUser":"1001"'))).toEqual([
      'Deployment.spec.template.spec.securityContext.runAsUser: not integer or null: "1001"',
    ]);
    expect(spoil((text) => text.replace('apps/v1', 'apps/v2'))).toEqual(['no schema: apps/v2 Deployment']);
  });
});
