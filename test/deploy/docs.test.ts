/**
 * The tutorials and how-to guides: their manifests and overlays are valid, and their commands use flags that exist.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { planFromManifestsFlags } from '@portolan/ops/manifests/settings/manifests-flags.ts';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { IMAGE, type Manifest, readContainers, readDeployment, readLayout } from './manifests.ts';
import { type Kustomization, patchDeployment } from './patches.ts';
import { KubernetesSchemas } from './schema.ts';

const PAGES = [
  'deploy/README.md',
  ...['docs/tutorials', 'docs/how-to'].flatMap((folder) =>
    readdirSync(folder).map((file) => `${folder}/${file}`),
  ),
];

/** The kubelet's own settings are no object of the API; of custom resources no schema is recorded. */
const WITHOUT_SCHEMA = [
  'KubeletConfiguration',
  'Application',
  'CiliumNetworkPolicy',
  'HelmChartConfig',
  'HelmRelease',
];

/** Blocks of code of a page, by their language. */
function listCodeBlocks(text: string, language: string): readonly string[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter((match) => match[1] === language)
    .map((match) => match[2] ?? '');
}

it('docs/explanation/memory.md tells what the manifests ask for', () => {
  const rows = [
    ...readFileSync('docs/explanation/memory.md', 'utf8').matchAll(/^\| (`\w.*`) \| (\d+Mi) \| (\d+Mi) \|/gm),
  ];
  const told = rows.flatMap(([, names = '', request, limit]) =>
    names.split(', ').map((name): [string, object] => [name.replaceAll('`', ''), { request, limit }]),
  );
  const asked = [...readContainers('one'), ...readContainers('three')].map(
    ({ name, resources }): [string, object] => [
      name,
      { request: resources.requests.memory, limit: resources.limits.memory },
    ],
  );
  expect(Object.fromEntries(told)).toMatchObject(Object.fromEntries(asked));
});

describe.each(PAGES)('%s', (page) => {
  const text = readFileSync(page, 'utf8');

  it('has manifests that Kubernetes takes, and overlays that lead to such', () => {
    const schemas = new KubernetesSchemas('v1.37');
    for (const block of listCodeBlocks(text, 'yaml')) {
      const object = parse(block) as Manifest & Kustomization; // Of our own; what it is, is checked below.
      if (object.kind === 'Kustomization') checkOverlay(object, page);
      // A single line is no object at all.
      else if (object.kind !== undefined && !WITHOUT_SCHEMA.includes(object.kind))
        expect(schemas.complaints(object)).toEqual([]);
    }
  });

  it('gives portolan manifests flags that it takes', () => {
    const commands = listCodeBlocks(text, 'sh').flatMap((block) =>
      [...block.replaceAll('\\\n', ' ').matchAll(/portolan manifests ([^|>\n]*)/g)].map((match) =>
        (match[1] ?? '').replace('--with-config-map', ''),
      ),
    );
    for (const words of commands) {
      const flags = [...words.matchAll(/--([a-z-]+)=(\S+)/g)].map(
        ([, name = '', value = '']): [string, string] => [
          name.replaceAll(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase()),
          value,
        ],
      );
      expect(flags.map(([name]) => `--${name}`).length, words).toBe(words.split('--').length - 1);
      for (const [name] of flags)
        expect(['dnsServerIp', 'domain', 'image', 'layout', 'like', 'replicas']).toContain(name);
      expect(planFromManifestsFlags(Object.fromEntries(flags), '1.0.0').kind, words).toBe('good');
    }
  });

  it('names no version but this one of our images, and none that is `latest`', () => {
    const [, version] = IMAGE.split(':');
    const images = [...text.matchAll(/portolan[-$\w"]*:([\w.]+)/g)].map((match) => match[1]);
    for (const tag of images) expect(tag).toBe(version);
    expect(text).not.toMatch(/:latest/);
  });
});

/** An overlay stands beside `deploy/`, as the pages say. */
function checkOverlay({ resources = [], components = [], patches }: Kustomization, page: string): void {
  for (const path of [...resources, ...components])
    expect(existsSync(join(path.replace(/^\.\.\//, ''), 'kustomization.yaml')), `${page}: ${path}`).toBe(
      true,
    );
  if (patches === undefined) return;
  const layout = resources.includes('../deploy/kube-dns') ? 'three' : 'one';
  const deployment = patchDeployment(readDeployment(layout), { kind: 'Kustomization', patches });
  expect(new KubernetesSchemas('v1.37').complaints(deployment)).toEqual([]);
}

it('docs/how-to/replace-kube-dns.md deletes all objects that the manifests add', () => {
  const page = readFileSync('docs/how-to/replace-kube-dns.md', 'utf8');
  const deleted = [...page.matchAll(/^kubectl (?:-n kube-system )?delete (\S+) (.+)$/gm)].flatMap(
    ([, kinds = '', names = '']) =>
      kinds.split(',').flatMap((kind) => names.split(' ').map((name) => `${kind}/${name}`)),
  );
  const added = readLayout('one').map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`);
  // Those that kube-dns has too, in place of which ours are.
  const kept = ['deployment/kube-dns', 'service/kube-dns', 'serviceaccount/kube-dns'];
  expect(deleted.toSorted()).toEqual(added.filter((each) => !kept.includes(each)).toSorted());
});
