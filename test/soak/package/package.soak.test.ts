/**
 * The package as npm builds, would publish and installs it. Its dependencies come from the registry or from npm's cache.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';

const run = promisify(execFile);
const MINUTES = 60_000;
/** What the package is made from. */
const SOURCES = [
  'Dockerfile',
  'package.json',
  'package-lock.json',
  'scripts',
  'tsconfig.json',
  'packages',
  'dashboard',
  'deploy',
  'docs',
  'examples',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
];

let folder = '';
/** Apart from the folder of sources, whose packages would be found from below it. */
let prefix = '';
let tarball = '';
let program = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portolan-package-'));
  for (const name of SOURCES) await cp(name, join(folder, name), { recursive: true });
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  const { stdout } = await run('npm', ['pack', '--silent'], { cwd: folder });
  tarball = join(folder, stdout.trim());
  prefix = await mkdtemp(join(tmpdir(), 'portolan-prefix-'));
  const options = ['--prefix', prefix, '--prefer-offline', '--no-audit', '--no-fund'];
  await run('npm', ['install', '--global', ...options, tarball], { cwd: folder });
  program = join(prefix, 'bin', 'portolan');
}, 5 * MINUTES);

afterAll(async () => {
  for (const each of [folder, prefix]) await rm(each, { recursive: true, force: true });
});

const installed = (...path: readonly string[]) => join(prefix, 'lib', 'node_modules', 'portolan', ...path);

it('holds a new build, the documentation and the notices of third parties, and no source', async () => {
  const { stdout } = await run('tar', ['tzf', tarball]);
  const files = stdout.trim().split('\n');
  for (const name of [
    'dist/portolan.js',
    'dist/reader.js',
    'dist/plugins/@portolan/records/index.js',
    'docs/README.md',
    'LICENSE',
    'deploy/README.md',
    'scripts/image-layers.sh',
    'scripts/code-caches/write-code-caches.mjs',
  ])
    expect(files).toContain(`package/${name}`);
  const others = files.filter((file) => !file.startsWith('package/scripts/code-caches/'));
  expect(others.filter((file) => /\.(map|mjs)$|^package\/(packages|test)\//.test(file))).toEqual([]);
  const notices = await readFile(installed('dist', 'THIRD-PARTY-NOTICES.txt'), 'utf8');
  for (const name of ['koffi', 'yaml', 'preact']) expect(notices).toContain(`\n${name} `);
});

it('would be published', async () => {
  const { stdout, stderr } = await run('npm', ['publish', '--dry-run', tarball], { cwd: folder });
  const { name, version } = JSON.parse(await readFile('package.json', 'utf8')) as Record<string, string>;
  expect(stdout).toContain(`+ ${name}@${version}`);
  expect(stderr).not.toContain('npm error');
});

it('is installed without the optional peer, and its error names the command for it', async () => {
  await expect(access(installed('node_modules', '@kubernetes'))).rejects.toThrow('ENOENT');
  expect(await readdir(installed('node_modules'))).toContain('koffi');
  const kubeconfig = join(folder, 'kubeconfig');
  const entry = { name: 'c', context: { cluster: 'c', user: 'u' } };
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: 'get-token',
    interactiveMode: 'Never',
  };
  await writeFile(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      contexts: [entry],
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'u', user: { exec } }],
    }),
  );
  const args = ['serve', `--kubecfg-file=${kubeconfig}`, `--dns-port=${await findFreePort()}`];
  await expect(run(program, [...args, '--log-format=text', '--healthz-port=127.0.0.1:0'])).rejects.toThrow(
    "run 'npm install @kubernetes/client-node@1'",
  );
});

it('loads the plugins that come with it, by the names of their packages', async () => {
  const corefile = join(folder, 'Corefile');
  await writeFile(corefile, '. {\n records a.test {\n  www A 192.0.2.1\n }\n}\n');
  const { stdout } = await run(program, [
    'corefile',
    'check',
    '--plugin=records=@portolan/records',
    corefile,
  ]);
  expect(stdout).toContain('0 problems');
});

it('serves its example once it is installed', async () => {
  expect((await run(program, ['version'])).stdout).toContain('portolan ');
  const place = ['--dns-bind-address=127.0.0.1', `--dns-port=${await findFreePort()}`];
  const rest = ['--healthz-port=127.0.0.1:0', '--log-format=json', '--lameduck=0s', '--upstream=none'];
  const child = spawn(program, ['serve', '--example', ...place, ...rest], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const messages: unknown[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    const { message } = JSON.parse(line) as { readonly message: string };
    messages.push(message);
    if (message === 'serving') break;
  }
  expect(messages).toContain('manifests read');
  expect(messages).toContain('serving');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
