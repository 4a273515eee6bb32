/**
 * The pages of distributions and providers: their commands name the objects and containers that the manifests there have, the ways back
 * are there, and what they write is read.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readCorefile } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { readLayout } from '../deploy/manifests.ts';
import { ORIGINALS } from '../originals/cases.ts';
import { readOriginal } from '../originals/original.ts';

const FOLDER = 'docs/how-to';
const PAGES = readdirSync(FOLDER).filter((name) => /^on-[a-z0-9]+\.md$/.test(name));
/** Pages of clusters whose own manifest Portolan is started by, and the case. */
const STARTED: ReadonlyMap<string, string> = new Map([
  ['on-kubeadm.md', 'kubeadm'],
  ['on-kind.md', 'kubeadm'],
  ['on-k3s.md', 'k3s'],
  ['on-eks.md', 'eks'],
]);
const readPage = (page: string): string => readFileSync(`${FOLDER}/${page}`, 'utf8');

it('there is one for each', () => {
  const expected = ['aks', 'eks', 'k3s', 'kind', 'kubeadm', 'openshift'];
  expect(PAGES.toSorted()).toEqual(expected.map((name) => `on-${name}.md`));
  for (const page of PAGES) expect(readPage(page)).toMatch(/\*\*Go back[.:*]|^## Go back$/m);
});

it.each([...STARTED])(
  '%s names the Deployment and the container of the manifest that was tried',
  (page, id) => {
    const original = ORIGINALS.find((each) => each.id === id);
    const containers = readOriginal(original?.manifest ?? '').spec.containers.map(({ name }) => name);
    const set = [...readPage(page).matchAll(/set image deployment\/(\S+) ([^=\s]+)=/g)];
    const swaps = [...readPage(page).matchAll(/portolan (?:swap|preflight) .*--like=(\S+)/g)];
    expect(set.length + swaps.length).toBeGreaterThan(0);
    for (const [, deployment, container] of set)
      expect([deployment, containers]).toEqual(['coredns', [container]]);
    for (const [, like] of swaps) expect(like).toBe('coredns');
  },
);

it('the Corefile of AKS with the zone of the page is read without a problem', () => {
  const [, yaml = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(readPage('on-aks.md')) ?? [];
  const { data } = parse(yaml) as { data: Readonly<Record<string, string>> };
  const managed =
    '.:53 {\n errors\n cache 30\n forward . 192.0.2.1\n import custom/*.override\n}\nimport custom/*.server\n';
  const reading = readCorefile(managed, {
    file: 'Corefile',
    profile: '1.14',
    defaultPort: 53,
    environment: {},
    files: {
      read: () => data['portolan.server'] ?? '',
      findKind: (path) => (path.endsWith('.server') ? 'file' : 'folder'),
      list: (folder) => (folder.includes('custom') ? ['portolan.server'] : ['custom']),
    },
    interfaces: new Map(),
  });
  expect(reading).toMatchObject({ kind: 'good' });
});

it.each(['one', 'three'] as const)(
  'the clean-up after kube-dns lists all objects that the layout %s adds',
  (layout) => {
    const addon = readOriginal('addon-kube-dns');
    expect(addon.spec.containers.map(({ name }) => name)).toContain('kubedns');
    // What the addon of kube-dns has under the same names stays.
    const kept = ['Deployment', 'Service', 'ServiceAccount', 'ConfigMap'].map((kind) => `${kind} kube-dns`);
    const added = readLayout(layout)
      .map(({ kind, metadata }) => `${kind} ${metadata.name}`)
      .filter((each) => !kept.includes(each));
    const deleted = [
      ...readPage('replace-kube-dns.md').matchAll(/kubectl (?:-n kube-system )?delete (\S+) (.*)/g),
    ].flatMap(([, kinds = '', names = '']) =>
      kinds.split(',').flatMap((kind) =>
        names
          .trim()
          .split(' ')
          .map((name) => `${kind} ${name}`),
      ),
    );
    expect(added.length).toBeGreaterThan(2);
    for (const each of added) expect(deleted).toContain(each.replace(/^\S+/, (kind) => kind.toLowerCase()));
  },
);
