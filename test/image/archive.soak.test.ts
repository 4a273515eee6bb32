/**
 * The archive that `portolan image` writes: the same each time, complete, and startable as our manifest starts it; and every other image,
 * as its manifest runs it. All come from one set of layers: making them takes half a minute.
 *
 * runc of Debian starts the containers with the user, the read-only root, the capabilities, the sysctl and the memory limit of the manifest.
 */

import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeTemporaryFolder, type TemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { parseQuantity } from '@portolan/kubernetes/objects/quantity.ts';
import type { ImageLayers } from '@portolan/ops/image/image-layers.ts';
import { writeOciArchive } from '@portolan/ops/image/oci-archive.ts';
import { planFromImageFlags } from '@portolan/ops/image/settings/image-flags.ts';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { readContainers, readDeployment } from '../deploy/manifests.ts';
import { afterFile } from '../support/after-file.ts';
import { describeWhere, hasTool } from '../support/tools.ts';
import { definePods } from './image-pods.ts';
import { makeLayers } from './unpack-image.ts';

const run = promisify(execFile);
const TOOLS = ['runc', 'dig', 'nsenter', 'unshare', 'ip', 'nft', 'etcd', 'dpkg-deb', 'apt-get', 'tar'];
const MINUTES = 60_000;
/** Of the container, which has a network of its own. */
const METRICS_PORT = 8081;
const MAX_BYTES = 150_000_000;
const MAX_COMPRESSED_BYTES = 55_000_000;

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

interface PodSpec {
  readonly securityContext: {
    readonly runAsUser: number;
    readonly runAsGroup: number;
    readonly sysctls: readonly { readonly name: string; readonly value: string }[];
  };
}

interface Resources {
  readonly limits: { readonly memory: string };
}

interface SecurityContext {
  readonly readOnlyRootFilesystem: boolean;
  readonly allowPrivilegeEscalation: boolean;
  readonly capabilities: { readonly drop: readonly string[]; readonly add?: readonly string[] };
}

let folder: TemporaryFolder;
let layers: ImageLayers;
let archive = '';
/** The archive as the program makes it, and what it prints. */
let built: { readonly file: string; readonly output: string };

/** The archive from the layers that all tests share. */
async function buildHere(): Promise<string> {
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
  const plan = planFromImageFlags({ target: 'portolan' }, version, process.arch);
  if (plan.kind === 'bad') throw new Error('the flags are good');
  const file = join(folder.path, 'here.tar');
  await writeOciArchive(layers, plan.value, file, folder.path);
  return file;
}

async function buildByProgram(): Promise<typeof built> {
  const file = join(folder.path, 'program.tar');
  const { stdout } = await run(process.execPath, ['dist/portolan.js', 'image', '--output', file]);
  return { file, output: stdout };
}

async function computeDigest(file: string): Promise<string> {
  return `sha256:${createHash('sha256')
    .update(await readFile(file))
    .digest('hex')}`;
}

const blob = (digest: string): string => join(folder.path, 'layout', 'blobs', digest.replace(':', '/'));
const readBlob = async (digest: string) => JSON.parse(await readFile(blob(digest), 'utf8'));

/** Unpacks the layers as a container runtime does. @returns the configuration of the image */
async function unpack(root: string) {
  await mkdir(join(folder.path, 'layout'), { recursive: true });
  await mkdir(root, { recursive: true });
  await run('tar', ['--extract', '--file', archive, '--directory', join(folder.path, 'layout')]);
  const index = JSON.parse(await readFile(join(folder.path, 'layout', 'index.json'), 'utf8'));
  const manifest = await readBlob(index.manifests[0].digest);
  const config = await readBlob(manifest.config.digest);
  for (const [at, { digest, size }] of (manifest.layers as readonly Descriptor[]).entries()) {
    expect((await stat(blob(digest))).size).toBe(size);
    expect(await computeDigest(blob(digest))).toBe(digest);
    const { stdout } = await run('sh', ['-c', `gzip -dc "$1" | sha256sum`, 'sh', blob(digest)]);
    expect(`sha256:${stdout.slice(0, 64)}`).toBe(config.rootfs.diff_ids[at]);
    await run('tar', ['--extract', '--gzip', '--file', blob(digest), '--directory', root]);
  }
  return config;
}

/** What runc is asked for, from the manifest and the image. */
function makeBundle(root: string, image: { Entrypoint: readonly string[]; Env: readonly string[] }) {
  const pod = (readDeployment('one') as unknown as { spec: { template: { spec: PodSpec } } }).spec.template
    .spec;
  const [container] = readContainers('one') as unknown as readonly {
    securityContext: SecurityContext;
    resources: Resources;
  }[];
  const { securityContext, resources } = container ?? {};
  if (securityContext === undefined || resources === undefined) throw new Error('the manifest lacks fields');
  expect(securityContext.capabilities.drop).toEqual(['ALL']);
  const kept = (securityContext.capabilities.add ?? []).map((name) => `CAP_${name}`);
  const { runAsUser, runAsGroup, sysctls } = pod.securityContext;
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid: runAsUser, gid: runAsGroup },
      args: [...image.Entrypoint, 'serve', '--example', '--upstream=none', `--healthz-port=${METRICS_PORT}`],
      env: image.Env,
      cwd: '/',
      noNewPrivileges: !securityContext.allowPrivilegeEscalation,
      capabilities: { bounding: kept, permitted: kept, effective: kept },
    },
    root: { path: root, readonly: securityContext.readOnlyRootFilesystem },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
    ],
    linux: {
      namespaces: ['pid', 'network', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      resources: { memory: { limit: Number(parseQuantity(resources.limits.memory)) / 1e9 } },
      sysctl: Object.fromEntries(sysctls.map(({ name, value }) => [name, value])),
    },
  };
}

/** Runs until the test ends. @returns its first process, as this machine numbers it */
async function start(bundle: string, id: string): Promise<number> {
  const state = join(folder.path, 'state');
  const container = spawn('runc', ['--root', state, 'run', '--bundle', bundle, id], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(container, 'close');
  onTestFinished(async () => {
    await run('runc', ['--root', state, 'kill', id, 'KILL']).catch(() => {});
    await ended;
  });
  let first: number | undefined;
  await waitUntil('the container to run', async () => {
    if (container.exitCode !== null) throw new Error('the container has ended');
    const { stdout } = await run('runc', ['--root', state, 'state', id]).catch(() => ({ stdout: '{}' }));
    const { status, pid } = JSON.parse(stdout) as { status?: string; pid?: number };
    if (status === 'running') first = pid;
    return first !== undefined;
  });
  return first ?? 0;
}

/** Asks until there is an answer. */
async function ask(pid: number, ...words: readonly string[]): Promise<string> {
  const place = [`--target=${pid}`, '--net', 'dig', '@127.0.0.1', '+tries=1', '+time=1', '+short'];
  let answer = '';
  await waitUntil(`an answer to ${words.join(' ')}`, async () => {
    const { stdout } = await run('nsenter', [...place, ...words]).catch(() => ({ stdout: '' }));
    answer = stdout.trim();
    return answer !== '';
  });
  return answer;
}

async function readMetrics(pid: number): Promise<string> {
  const fetches = `fetch('http://127.0.0.1:${METRICS_PORT}/metrics').then((found) => found.text()).then(console.log)`;
  const { stdout } = await run('nsenter', [`--target=${pid}`, '--net', process.execPath, '-e', fetches]);
  return stdout;
}

const mayRun = process.getuid?.() === 0 && TOOLS.every(hasTool);
describeWhere(mayRun, `root and ${TOOLS.join(', ')}`, 'the archive of an image', () => {
  beforeAll(async () => {
    folder = await makeTemporaryFolder(afterFile);
    await chmod(folder.path, 0o755);
    // At the same time: either waits for its packages.
    [layers, built] = await Promise.all([makeLayers(folder.path), buildByProgram()]);
    archive = await buildHere();
  }, 10 * MINUTES);

  it('is the same octet by octet when the program builds it, which prints sizes within bounds', async () => {
    expect(await computeDigest(built.file)).toBe(await computeDigest(archive));
    const [, bytes = '', compressed = ''] = /([\d.]+) MB +([\d.]+) MB +in all/.exec(built.output) ?? [];
    console.info(`the main image: ${bytes} MB unpacked, ${compressed} MB compressed`);
    expect(Number(bytes) * 1_000_000).toBeLessThan(MAX_BYTES);
    expect(Number(compressed) * 1_000_000).toBeLessThan(MAX_COMPRESSED_BYTES);
    expect(Number(bytes)).toBeGreaterThan(0);
  });

  it('starts under runc from its code caches with the rights of the manifest, and answers at port 53', async () => {
    const root = join(folder.path, 'root');
    const { config, architecture } = await unpack(root);
    expect(architecture).toBe(process.arch === 'x64' ? 'amd64' : 'arm64');
    expect(config.User).toBe('65532:65532');
    await writeFile(join(folder.path, 'config.json'), JSON.stringify(makeBundle(root, config)));
    const pid = await start(folder.path, `portolan-test-${process.pid}`);
    await run('nsenter', [`--target=${pid}`, '--net', 'ip', 'link', 'set', 'lo', 'up']);
    expect(await ask(pid, 'cart.shop.svc.cluster.local')).toBe('10.96.20.10');
    expect(await ask(pid, '+tcp', 'cart.shop.svc.cluster.local')).toBe('10.96.20.10');
    expect(await readMetrics(pid)).toMatch(/^portolan_code_caches\{state="used"\} 1$/m);
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    expect(status).toMatch(/^Uid:\t1001\t1001/m);
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  });

  definePods(() => ({ folder, layers }));
});
