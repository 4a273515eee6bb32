import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, it } from 'vitest';

const run = promisify(execFile);

const PROGRAM = `import { parseName, encodeName } from '@portolan/dns/name';
import { decodeMessage } from '@portolan/dns/message';
import type { Message } from '@portolan/dns/types';
import { definePlugin } from '@portolan/plugin';

const name: Uint8Array = encodeName(parseName('Example.org'));
const query = Uint8Array.of(0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...name, 0, 1, 0, 1);
const message: Message = decodeMessage(query);
console.log(message.header.id, message.questions[0]?.name, typeof definePlugin);
`;

it('packs libraries that a program imports with types, in Node.js alone', async () => {
  const { path } = await makeTemporaryFolder();
  await run(process.execPath, ['scripts/pack-libraries.mjs', path], {
    env: { ...process.env, REPOSITORY: 'https://git.example/portolan' },
  });
  const modules = join(path, 'node_modules');
  mkdirSync(join(modules, '@portolan'), { recursive: true });
  symlinkSync(resolve('node_modules/@types'), join(modules, '@types'));
  const archives = readdirSync(path).filter((file) => file.endsWith('.tgz'));
  expect(archives).toHaveLength(2);
  for (const name of ['dns', 'plugin']) {
    const target = join(modules, '@portolan', name);
    mkdirSync(target);
    const archive = archives.find((file) => file.startsWith(`portolan-${name}-`));
    await run('tar', ['-xzf', join(path, String(archive)), '--strip-components=1', '-C', target]);
    const description = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8'));
    expect(description).toMatchObject({
      license: 'Apache-2.0',
      repository: { url: 'git+https://git.example/portolan.git', directory: `packages/${name}` },
      publishConfig: { provenance: true },
    });
    expect(readdirSync(target)).toEqual(expect.arrayContaining(['LICENSE', 'README.md']));
    expect(readFileSync(join(target, 'README.md'), 'utf8')).not.toMatch(/\]\(\.\.?\//);
  }
  writeFileSync(join(path, 'package.json'), '{"type": "module"}');
  writeFileSync(join(path, 'program.ts'), PROGRAM);
  const flags = [
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--types',
    'node',
    '--rootDir',
    '.',
  ];
  await run(resolve('node_modules/.bin/tsc'), [...flags, 'program.ts'], { cwd: path });
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: path });
  expect(stdout).toBe('7 Example.org. function\n');
});
