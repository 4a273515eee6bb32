import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const LIST = 'packages/frontends/src/plugins/plugins.ts';

it('makes the folder of a plugin, and its line in the list, once', async () => {
  const { path } = await makeTemporaryFolder();
  mkdirSync(join(path, dirname(LIST)), { recursive: true });
  mkdirSync(join(path, 'packages/plugins/src'), { recursive: true });
  copyFileSync(LIST, join(path, LIST));
  const make = (name: string) => run(process.execPath, ['scripts/new-plugin.mjs', name, path]);
  await make('maintenance');
  const lines = readFileSync(join(path, LIST), 'utf8').split('\n');
  const before = readFileSync(LIST, 'utf8').split('\n');
  const own = "export { maintenance } from '@portolan/plugins/maintenance/plugin.ts';";
  expect(lines.filter((line) => line !== own)).toEqual(before);
  expect(lines.filter((line) => line === own)).toHaveLength(1);
  const made = (file: string) => readFileSync(join(path, 'packages/plugins/src/maintenance', file), 'utf8');
  expect(made('plugin.ts')).toContain("= definePlugin({\n  name: 'maintenance',");
  expect(made('maintenance.test.ts')).toContain("from './plugin.ts'");
  expect(made('README.md')).toMatch(/^# maintenance\n/);
  await expect(make('maintenance')).rejects.toThrow('a plugin of this name exists');
  await expect(make('Not-A-Name')).rejects.toThrow('not a name of a plugin: Not-A-Name');
});
