import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const CHART = 'deploy/chart/Chart.yaml';
const ADDRESS = 'https://git.example/portolan';

it('writes the address of the repository into the chart, and leaves the rest', async () => {
  const { path } = await makeTemporaryFolder();
  const file = join(path, 'Chart.yaml');
  copyFileSync(CHART, file);
  execFileSync(process.execPath, ['scripts/name-repository.mjs', file, ADDRESS]);
  const former = parse(readFileSync(CHART, 'utf8'));
  const written = parse(readFileSync(file, 'utf8'));
  const links = written.annotations['artifacthub.io/links'];
  expect(written).toEqual({
    ...former,
    home: ADDRESS,
    sources: [ADDRESS],
    annotations: { ...former.annotations, 'artifacthub.io/links': links },
  });
  expect(parse(links)).toContainEqual({ name: 'support', url: `${ADDRESS}/issues` });
});

it('has annotations of Artifact Hub that are lists where it reads lists', () => {
  const { annotations } = parse(readFileSync(CHART, 'utf8'));
  const changes = parse(annotations['artifacthub.io/changes']) as readonly { readonly kind: string }[];
  expect(annotations['artifacthub.io/category']).toBe('networking');
  expect(changes.map(({ kind }) => kind)).toEqual(['added', 'added']);
});
