/**
 * The example ConfigMap is valid.
 */
import { readFileSync } from 'node:fs';
import { CONFIG_KEYS, readKubeDnsConfig } from '@portolan/server/settings/config-map/config-map.ts';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

function readTexts(data: Readonly<Record<string, string>>) {
  return readKubeDnsConfig(
    new Map(Object.entries(data).map(([key, text]) => [key, { kind: 'text', text }] as const)),
  );
}

/** The manifest, with what is commented out taken in. */
function readManifest(file: string): Readonly<Record<string, string>> {
  const text = readFileSync(file, 'utf8').replace(/^( *)# (federations: \|| {2}\w+=)/gm, '$1$2');
  return parse(text).data;
}

it('examples/kube-dns/config-map.yaml', () => {
  const data = readManifest('examples/kube-dns/config-map.yaml');
  expect(Object.keys(data).sort()).toEqual([...CONFIG_KEYS].sort());
  expect(readTexts(data)).toMatchObject({
    kind: 'good',
    value: {
      stubDomains: [{ domain: 'acme.local.' }, { domain: 'consul.' }],
      federations: [{ name: 'myfederation' }],
    },
  });
});

it('the ConfigMap of docs/reference/kube-dns-config.md', () => {
  const text = readFileSync('docs/reference/kube-dns-config.md', 'utf8');
  const [, manifest = ''] = /```yaml\n(.*?)```/s.exec(text) ?? [];
  expect(readTexts(parse(manifest).data).kind).toBe('good');
});
