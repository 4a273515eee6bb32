/**
 * `portolan ndots` of a running server: a mix of workloads asks as glibc, musl and Go do, then again with what was proposed. The questions
 * that it said to save are saved, and each name is found as before.
 *
 * The clock of the server is manual: the time in which it counts is over when all have asked. Readers, clients and the upstream server are
 * real, and the operator runs the built program.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { createServerControl } from '@portolan/ops/control/server-control.ts';
import { compareReports } from '@portolan/ops/ndots/compare-reports.ts';
import type { NdotsReport } from '@portolan/ops/ndots/report.ts';
import {
  listCandidates,
  makeClusterFirstSearchList,
  type ResolverLibrary,
  type StepOutcome,
  stepAfter,
} from '@portolan/server/reasons/search-walk.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { answerFromZone, makeAddress } from '@portolan/testing/upstream/reactions.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { serveInProcess } from '../faults/in-process-server.ts';
import { bundleServerThreads } from '../support/bundle-thread.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
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
/** For which questions are counted: milliseconds of the server's clock. Asking takes a second on an idle machine. */
const TIME = 600_000;
/** Milliseconds between two turns of the clock. */
const TICK = 10;

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
  const upstream = await LoopbackUpstream.start(
    answerFromZone(Object.fromEntries(OUTSIDE.map((name) => [`${name}. A`, [makeAddress('192.0.2.1')]]))),
  );
  onTestFinished(() => upstream.stop());
  const { path } = await makeTemporaryFolder();
  writeFileSync(
    join(path, 'objects.json'),
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: MANIFESTS }),
  );
  const clock = new ManualClock();
  const socket = join((await makeTemporaryFolder()).path, 'socket');
  const turn = () => clock.advance(TICK);
  const readerEntry = await bundleServerThreads();
  const flags = { manifests: path, upstream: [upstream.address] };
  const serving = await serveInProcess(flags, { readerEntry, clock, step: turn });
  const { server } = serving;
  const place = { kind: 'file', path: socket, isDefault: false } as const;
  const about = { place, server, role: 'serve', log: undefined, format: 'text', clock } as const;
  const control = createServerControl({ ...about, messages: silentLog });
  await control.socket.start();
  const ticking = setInterval(turn, TICK);
  onTestFinished(async () => {
    clearInterval(ticking);
    await control.stop();
  });
  return { serving, clock, socket };
}

type Mix = Awaited<ReturnType<typeof serveMix>>;

const findNdots = ({ ndots = 5, workload }: MixedWorkload, changed: ReadonlyMap<string, number>) =>
  changed.get(workload) ?? ndots;

async function askOutcome(serving: DnsServer, name: string, from: string): Promise<StepOutcome> {
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
async function replay(serving: DnsServer, mixed: MixedWorkload, ndots: number) {
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
  { serving, clock, socket }: Mix,
  { changed, words }: { readonly changed: ReadonlyMap<string, number>; readonly words: readonly string[] },
) {
  const folder = await makeTemporaryFolder();
  const evidence = await folder.write('pods.json', listPods(changed));
  const flags = [`--socket=${socket}`, `--for=${TIME}ms`, `--evidence=${evidence}`, '--output=json'];
  const program = runPortolan(['ndots', ...flags, ...words]);
  const { tap } = serving.server;
  await waitUntil('questions to be counted', () => tap.sampling === 1);
  let seen = 0;
  const endFollowing = tap.follow((events, lost) => {
    seen += events.length + lost;
  });
  const replays = await Promise.all(
    MIX.map(
      async (mixed) => [mixed.workload, await replay(serving, mixed, findNdots(mixed, changed))] as const,
    ),
  );
  const asked = replays.reduce((sum, [, { questions }]) => sum + questions, 0);
  // Readers write the event of an answer when it is sent.
  await waitUntil('all questions to be seen', () => seen >= asked);
  endFollowing();
  clock.advance(TIME);
  const { code } = await program.exit;
  expect(program.errors).toBe('');
  const report = JSON.parse(program.output) as NdotsReport; // Our own format.
  return { code, report, replays: new Map(replays), output: program.output };
}

it('saves what it says, and breaks no name', async () => {
  const mix = await serveMix();
  const before = await run(mix, { changed: new Map(), words: [] });
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
  const after = await run(mix, { changed, words: [`--before=${earlier}`] });
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
