/**
 * The version stands in package.json; `npm version` writes it wherever else it is named.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, it } from 'vitest';

const PLACES = ['package.json', 'Dockerfile', 'README.md', 'deploy', 'docs', 'scripts/set-version.mjs'];
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

it('is the same in the lock file', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  expect([lock.version, lock.packages[''].version]).toEqual([version, version]);
});

it('has a section in the changelog', () => {
  expect(readFileSync('CHANGELOG.md', 'utf8')).toMatch(
    new RegExp(`^## ${version.replaceAll('.', '\\.')}`, 'm'),
  );
});

it('is written to all places by the script', async () => {
  const folder = await makeTemporaryFolder();
  for (const place of PLACES) cpSync(place, join(folder.path, place), { recursive: true });
  const manifest = readFileSync('package.json', 'utf8').replace(
    `"version": "${version}"`,
    '"version": "9.8.7"',
  );
  writeFileSync(join(folder.path, 'package.json'), manifest);
  execFileSync(process.execPath, ['scripts/set-version.mjs'], { cwd: folder.path });
  const files = readdirSync(folder.path, { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  );
  const left = files.filter((each) => {
    const text = readFileSync(join(each.parentPath, each.name), 'utf8');
    return new RegExp(`portolan(?:-[a-z-]+)?["$}]*:${version.replaceAll('.', '\\.')}`).test(text);
  });
  expect(left.map(({ name }) => name)).toEqual([]);
  expect(readFileSync(join(folder.path, 'Dockerfile'), 'utf8')).toContain('\nARG VERSION=9.8.7\n');
  expect(readFileSync(join(folder.path, 'deploy/chart/Chart.yaml'), 'utf8')).toMatch(
    /^version: 9\.8\.7\nappVersion: 9\.8\.7$/m,
  );
});
