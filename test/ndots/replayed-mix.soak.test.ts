/**
 * `portolan ndots` of a running server: a mix of workloads asks as glibc, musl and Go do, then again with what was proposed. The questions
 * that it said to save are saved, and each name is found as before.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { ask } from '@portolan/kernel/chain/testing/ask.ts';
import { compareReports } from '@portolan/ops/ndots/compare-reports.ts';
import type { NdotsReport } from '@portolan/ops/ndots/report.ts';
import {
  listCandidates,
  makeClusterFirstSearchList,
  type ResolverLibrary,
  type StepOutcome,
  stepAfter,
} from '@portolan/server/reasons/search-walk.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { address, ZoneUpstream } from '../resolver/zone-upstream.ts';
import { formatSocketName, runToEnd } from '../support/control.ts';
import { endAllPrograms, runPortolan, servePortolan } from '../support/portolan.ts';
import { readRecording } from '../support/recordings.ts';

afterEach(endAllPrograms);

interface MixedWorkload {
  /** As the report names it. */
  readonly workload: string;
  /** The owner of its pods. */
  readonly kind: string;
  readonly owner: string;
  readonly hash?: string;
  /** Of its pods, on loopback. */
  readonly addresses: readonly string[];
  readonly library: ResolverLibrary;
  /** Default: 5. */
  readonly ndots?: number;
  /** By each pod. */
  readonly given: readonly { readonly name: string; readonly times: number }[];
}

const MIX = readRecording<MixedWorkload>('test/ndots/mix.jsonl');
const SEARCH = makeClusterFirstSearchList('shop', 'cluster.local.');
/** Asking takes less than a second; nothing is lost if a busy machine takes much longer. */
const TIME = '20s';

const metadata = (name: string, namespace: string) => ({ name, namespace });
const service = (name: string, namespace: string, clusterIP: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata(name, namespace),
  spec: { clusterIP, ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
});
const MANIFESTS = [
  service('cart', 'shop', '10.96.0.20'),
  service('queue', 'data', '10.96.0.21'),
  service('kubernetes', 'default', '10.96.0.1'),
  service('db', 'data', 'None'),
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: 'IPv4',
    metadata: { ...metadata('db-x', 'data'), labels: { 'kubernetes.io/service-name': 'db' } },
    ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
    endpoints: ['db-0', 'db-1'].map((hostname, index) => ({
      hostname,
      addresses: [`10.244.9.${index + 1}`],
      conditions: { ready: true },
    })),
  },
];
const OUTSIDE = ['api.stripe.example', 's3.eu.storage.example', 'metrics.example', 'a.b.c.d.example'];

async function serveMix() {
  const upstream = await ZoneUpstream.start(
    Object.fromEntries(OUTSIDE.map((name) => [`${name}. A`, [address('192.0.2.1')]])),
  );
  onTestFinished(() => upstream.stop());
  const { path } = await makeTemporaryFolder();
  writeFileSync(
    join(path, 'objects.json'),
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: MANIFESTS }),
  );
  const serving = await servePortolan([`--manifests=${path}`, `--upstream=${upstream.address}`]);
  await serving.program.heard('cluster listed');
  return { serving, socket: `--socket=${formatSocketName(serving.program, 'serve')}` };
}

type Serving = Awaited<ReturnType<typeof serveMix>>['serving'];

const findNdots = ({ ndots = 5, workload }: MixedWorkload, changed: ReadonlyMap<string, number>) =>
  changed.get(workload) ?? ndots;

async function askOutcome(serving: Serving, name: string, from: string): Promise<StepOutcome> {
  // As libraries do, both at once.
  const [four, six] = await Promise.all([
    ask(serving, name, 'A', { from }),
    ask(serving, name, 'AAAA', { from }),
  ]);
  if (four.answers.length + six.answers.length > 0) return 'answer';
  if (four.header.rcode === 0) return 'nodata';
  return four.header.rcode === 3 ? 'nxdomain' : 'servfail';
}

/** Asks for all names of a workload. @returns what each name was found as, and the questions of all */
async function replay(serving: Serving, mixed: MixedWorkload, ndots: number) {
  const found = new Map<string, string | undefined>();
  let questions = 0;
  for (const from of mixed.addresses)
    for (const { name, times } of mixed.given)
      for (let turn = 0; turn < times; turn++) {
        found.set(name, undefined);
        for (const candidate of listCandidates(name, { search: SEARCH, ndots }, mixed.library)) {
          const outcome = await askOutcome(serving, candidate, from);
          questions += 2;
          if (outcome === 'answer') found.set(name, candidate);
          if (stepAfter(outcome, mixed.library, candidate === `${name}.`) === 'stop') break;
        }
      }
  return { found, questions };
}

/** Pods as `kubectl get pods` shows them. */
function listPods(changed: ReadonlyMap<string, number>): string {
  const items = MIX.flatMap((mixed) =>
    mixed.addresses.map((podIP, index) => ({
      kind: 'Pod',
      metadata: {
        ...metadata(`${mixed.owner}-${index}`, 'shop'),
        labels: mixed.hash === undefined ? {} : { 'pod-template-hash': mixed.hash },
        ownerReferences: [{ kind: mixed.kind, name: mixed.owner, controller: true }],
      },
      spec: { dnsConfig: { options: [{ name: 'ndots', value: String(findNdots(mixed, changed)) }] } },
      status: { podIP, phase: 'Running' },
    })),
  );
  return JSON.stringify({ kind: 'List', items });
}

async function run(
  serving: Serving,
  socket: string,
  { changed, words }: { readonly changed: ReadonlyMap<string, number>; readonly words: readonly string[] },
) {
  const folder = await makeTemporaryFolder();
  const evidence = await folder.write('pods.json', listPods(changed));
  const command = ['ndots', socket, `--for=${TIME}`, `--evidence=${evidence}`, '--output=json', ...words];
  const program = runPortolan(command);
  const isCounting = async () => {
    const { text } = await runToEnd('control', socket, '--output=json', 'status');
    return (JSON.parse(text) as { statistics: { sampling?: number } }).statistics.sampling;
  };
  await expect.poll(isCounting, { timeout: 15_000 }).toBe(1);
  const replays = await Promise.all(
    MIX.map(
      async (mixed) => [mixed.workload, await replay(serving, mixed, findNdots(mixed, changed))] as const,
    ),
  );
  const { code } = await program.exit;
  expect(program.errors).toBe('');
  const report = JSON.parse(program.output) as NdotsReport; // Our own format.
  return { code, report, replays: new Map(replays), output: program.output };
}

it('saves what it says, and breaks no name', async () => {
  const { serving, socket } = await serveMix();
  const before = await run(serving, socket, { changed: new Map(), words: [] });
  const name = ({ kind, namespace, name: of }: NdotsReport['workloads'][number]) =>
    `${kind} ${namespace}/${of}`;
  const reported = new Map(before.report.workloads.map((each) => [name(each), each]));
  expect(before.code).toBe(0);
  expect(before.report.lost).toBe(0);
  for (const [workload, { questions }] of before.replays)
    expect([workload, reported.get(workload)?.questions]).toEqual([workload, questions]);
  const proposed = new Map(Array.from(reported, ([workload, { change }]) => [workload, change?.ndots]));
  expect(proposed).toEqual(
    new Map<string, number | undefined>([
      ['Deployment shop/web', 2],
      ['StatefulSet shop/worker', 2],
      ['DaemonSet shop/agent', 1],
      ['StatefulSet shop/peers', 4],
      ['Deployment shop/tuned', undefined],
      ['Deployment shop/dotted', undefined],
    ]),
  );
  const changed = new Map(
    [...proposed].flatMap(([workload, ndots]) => (ndots === undefined ? [] : [[workload, ndots]])),
  );
  const folder = await makeTemporaryFolder();
  const earlier = await folder.write('before.json', before.output);
  const after = await run(serving, socket, { changed, words: [`--before=${earlier}`] });
  let saved = 0;
  for (const { workload } of MIX) {
    const former = before.replays.get(workload);
    const latter = after.replays.get(workload);
    expect([workload, latter?.found]).toEqual([workload, former?.found]);
    const fewer = (former?.questions ?? 0) - (latter?.questions ?? 0);
    expect([workload, reported.get(workload)?.change?.saved ?? 0]).toEqual([workload, fewer]);
    saved += fewer;
  }
  expect([before.report.questions, saved, before.report.saved]).toEqual([1090, 594, saved]);
  expect(after.code).toBe(0);
  expect(compareReports(before.report, after.report).map(({ verdict }) => verdict)).toEqual(
    Array.from(changed, () => 'better'),
  );
}, 180_000);
