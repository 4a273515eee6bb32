/**
 * The plugin of kubectl, with a kubectl that shows what it is asked and hands commands in pods to the built program.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { NOISE } from '@portolan/kernel/base/testing/path-programs.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import type { PastExplanation } from '@portolan/server/history/past-verdict.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { formatSocketName } from '../support/control.ts';
import { endAllPrograms, servePortolan } from '../support/portolan.ts';

const PLUGIN = fileURLToPath(new URL('../../deploy/kubectl/kubectl-portolan', import.meta.url));
const ENTRY = fileURLToPath(new URL('../../dist/portolan.js', import.meta.url));

let folder: string;
let socket = '';

const named = (name: string, labels = {}) => ({ name, namespace: 'shop', labels });
const LISTS: Readonly<Record<string, readonly object[]>> = {
  services: [
    {
      kind: 'Service',
      metadata: named('db'),
      spec: { clusterIP: 'None', selector: { app: 'db' }, ports: [] },
    },
  ],
  'endpointslices.discovery.k8s.io': [
    {
      kind: 'EndpointSlice',
      metadata: named('db-1', { 'kubernetes.io/service-name': 'db' }),
      endpoints: [{ addresses: ['10.1.0.7'], conditions: { ready: false }, targetRef: { name: 'db-0' } }],
    },
  ],
  pods: [{ kind: 'Pod', metadata: named('db-0', { app: 'db' }), spec: {}, status: { podIP: '10.1.0.7' } }],
};

beforeEach(async () => {
  folder = (await makeTemporaryFolder()).path;
  for (const [kind, items] of Object.entries(LISTS))
    writeFileSync(join(folder, `${kind}.json`), JSON.stringify({ kind: 'List', items }));
  const manifest = { apiVersion: 'v1', ...LISTS['services']?.[0] };
  writeFileSync(join(folder, 'manifests.json'), JSON.stringify(manifest));
});

afterEach(endAllPrograms);

/** A kubectl with one pod, which may not list network policies, and warns each time. */
function writeKubectl(): void {
  const file = join(folder, 'kubectl');
  writeFileSync(
    file,
    `#!/bin/sh
${NOISE}echo "$*" >>"${folder}/asked"
case "$*" in
  "get pods"*phase=Running*) echo kube-dns-abc ;;
  "get pod "*) echo registry.example/portolan ;;
  debug*)
    echo "Creating debugging pod node-debugger-n3-x with container debugger on node n3." >&2
    while [ "$1" != -- ]; do shift; done
    shift 2
    exec "${process.execPath}" "${ENTRY}" "$@"
    ;;
  "get networkpolicies"*) exit 1 ;;
  get*) cat "${folder}/$2.json" ;;
  exec*)
    while [ "$1" != -- ]; do shift; done
    shift 2
    command=$1
    shift
    exec "${process.execPath}" "${ENTRY}" "$command" "--socket=${socket}" "$@"
    ;;
esac
`,
  );
  chmodSync(file, 0o755);
}

const makeEnvironment = () => ({ PATH: `${folder}:${process.env['PATH'] ?? ''}`, HOME: '/nonexistent' });

function run(...words: readonly string[]) {
  const env = makeEnvironment();
  const { stdout, stderr, status } = spawnSync('/bin/sh', [PLUGIN, ...words], { encoding: 'utf8', env });
  return { stdout, stderr, status };
}

/** The test goes on meanwhile. */
async function runBesides(...words: readonly string[]) {
  const child = spawn('/bin/sh', [PLUGIN, ...words], {
    env: makeEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close') as Promise<[number | null]>;
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { stdout, stderr, status };
}

it('hands objects that the caller may read to the server', async () => {
  const { renameSync } = await import('node:fs');
  mkdirSync(join(folder, 'served'));
  renameSync(join(folder, 'manifests.json'), join(folder, 'served', 'manifests.json'));
  const serving = await servePortolan([`--manifests=${join(folder, 'served')}`, '--upstream=none']);
  await serving.program.heard('cluster listed');
  socket = formatSocketName(serving.program, 'serve');
  writeKubectl();
  const explained = run('explain', 'db.shop', '--from', 'web/front-0');
  expect([explained.status, explained.stdout]).toEqual([
    1,
    expect.stringMatching(/^does not resolve: service shop\/db has 1 endpoint that is not ready: db-0/),
  ]);
  const asked = readFileSync(join(folder, 'asked'), 'utf8');
  expect(asked).toContain('get services --namespace shop --output json');
  expect(asked).toContain('get pods --namespace web --output json');
  const { status, stdout } = run('doctor', '--watch=0s');
  expect([status, stdout]).toEqual([1, expect.stringMatching(/^PROBLEM {2}endpoints-not-ready/)]);
  expect(stdout).toContain('not checked  network-policy: needs policies');
  expect(run('status').stdout).toMatch(/^kube-dns-abc\n {2}server/);
}, 60_000);

it('tells what failed in the past, by the records of all pods', async () => {
  const serving = await servePortolan(['--example', '--upstream=none']);
  await serving.program.heard('cluster listed');
  socket = formatSocketName(serving.program, 'serve');
  writeKubectl();
  expect(await askShort(serving, 'catr.shop.svc.cluster.local', 'A')).toBe('NXDOMAIN');
  const explain = () =>
    JSON.parse(run('explain', 'catr.shop', '--since=5m', '--output=json').stdout) as PastExplanation;
  await expect.poll(() => explain().verdict.outcome).toBe('failed');
  expect(explain().episodes).toMatchObject([
    { name: 'catr.shop.svc.cluster.local.', replicas: ['kube-dns-abc'] },
  ]);
  const [hours, minutes] = [new Date().getHours(), new Date().getMinutes()].map((part) =>
    String(part).padStart(2, '0'),
  );
  expect(run('explain', 'catr.shop', '--at', `${hours}:${minutes}`)).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/catr\.shop\.svc\.cluster\.local\. failed 1 time for 1 client: /),
  });
  expect(run('doctor', '--since', '5m').stdout).toMatch(/^FAILED +no-such-service +catr\.shop/);
  expect(run('tail', '--since=5m').stdout).toMatch(/kube-dns-abc {2}127\.0\.0\.1 +catr\.shop/);
}, 60_000);

it('proposes ndots by the questions of all pods, and shows what has changed', async () => {
  const serving = await servePortolan(['--example', '--upstream=none']);
  await serving.program.heard('cluster listed');
  socket = formatSocketName(serving.program, 'serve');
  writeKubectl();
  const pod = {
    kind: 'Pod',
    metadata: {
      ...named('web-0'),
      ownerReferences: [{ kind: 'StatefulSet', name: 'web', controller: true }],
    },
    status: { podIP: '127.0.0.1' },
  };
  writeFileSync(join(folder, 'pods.json'), JSON.stringify({ kind: 'List', items: [pod] }));
  let isAsking = true;
  const asking = (async () => {
    while (isAsking)
      for (const domain of ['.shop.svc.cluster.local', '.svc.cluster.local', '.cluster.local', ''])
        await askShort(serving, `www.example.com${domain}`, 'A');
  })();
  const propose = async (...words: readonly string[]) => await runBesides('ndots', '--for', '1s', ...words);
  const first = await propose('--output=json');
  expect([first.status, JSON.parse(first.stdout)]).toMatchObject([
    0,
    { servers: 1, workloads: [{ kind: 'StatefulSet', namespace: 'shop', name: 'web', ndots: 5 }] },
  ]);
  writeFileSync(join(folder, 'before.json'), first.stdout);
  const again = await propose(`--before=${join(folder, 'before.json')}`);
  expect(again.stdout).toContain('\nsince before');
  expect(await propose('--before=/nonexistent/file')).toMatchObject({ status: 3, stdout: '' });
  isAsking = false;
  await asking;
}, 60_000);

it('leaves neither files nor processes when it is interrupted', async () => {
  const temporary = join(folder, 'temporary');
  const counting = join(folder, 'counting');
  mkdirSync(temporary);
  const kubectl = join(folder, 'kubectl');
  const commands = `get*) echo kube-dns-abc ;;\nexec*) echo $$ >"${counting}"; exec sleep 600 ;;`;
  writeFileSync(kubectl, `#!/bin/sh\ncase "$*" in\n${commands}\nesac\n`, { mode: 0o755 });
  const env = { ...makeEnvironment(), TMPDIR: temporary };
  const child = spawn('/bin/sh', [PLUGIN, 'ndots'], { env, stdio: 'ignore' });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const readProcess = () => (existsSync(counting) ? Number(readFileSync(counting, 'utf8')) : 0);
  await expect.poll(readProcess, { timeout: 30_000 }).toBeGreaterThan(0);
  const asking = readProcess();
  onTestFinished(() => void (existsSync(`/proc/${asking}`) && process.kill(asking, 'SIGKILL')));
  expect(readdirSync(temporary)).toHaveLength(1);
  child.kill('SIGINT');
  expect(await exited).toEqual([130, null]);
  expect([readdirSync(temporary), existsSync(`/proc/${asking}`)]).toEqual([[], false]);
}, 60_000);

it('examines a node, and leaves no pod there', () => {
  writeKubectl();
  const blind = run('doctor', '--on-node', 'n3', '--watch=0s', `--node-root=${folder}/none`);
  expect([blind.status, blind.stdout]).toEqual([3, '']);
  expect(blind.stderr).toMatch(/^portolan doctor: nothing could be read of the node: [^\n]*$/m);
  expect(blind.stderr).not.toContain('Creating debugging pod');
  const json = run('doctor', '--on-node', 'n3', '--watch=0s', '--output=json');
  expect(JSON.parse(json.stdout)).toHaveProperty('findings');
  const asked = readFileSync(join(folder, 'asked'), 'utf8');
  expect(asked).toMatch(
    /^debug node\/n3 --attach --profile=sysadmin .*--image=registry\.example\/portolan -- portolan doctor --on-node/m,
  );
  expect(asked).toContain('delete pod node-debugger-n3-x --namespace kube-system --wait=false');
  expect(run('doctor', '--on-node').status).toBe(2);
});

it('prints how it is used', () => {
  expect(run('--help')).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('kubectl portolan explain'),
  });
  expect(run().status).toBe(2);
  expect(run('explain').status).toBe(2);
});
