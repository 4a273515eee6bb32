/**
 * The built server with an upstream that loses packets, stalls or is down, over real sockets: the results of stub clients, on an idle
 * machine and with two processes that use all processor time.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { ask } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { answerAll, placeBehind } from '@portolan/testing/upstream/reactions.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms, servePortolan } from '../../support/portolan.ts';
import { soakLength } from '../../support/soak-length.ts';
import { askAsStubs } from '../../support/stub-clients.ts';

afterEach(endAllPrograms);

const PER_SECOND = 200;
const RUNS = soakLength(20, 8);
const NAMES_PER_RUN = 200;

/** Numbers from 0 to below 1 that are the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function start() {
  const path = { loss: 0, stalledUntil: 0 };
  const react = placeBehind(path, seeded(19), answerAll);
  const upstream = await LoopbackUpstream.start(react, { remembers: false });
  onTestFinished(() => upstream.stop());
  const serving = await servePortolan(['--example', '--upstream', `127.0.0.1:${upstream.port}`]);
  await serving.program.heard('cluster listed');
  return { upstream, path, serving };
}

function occupy(processes: number): void {
  const busy: ChildProcess[] = Array.from({ length: processes }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  onTestFinished(() => {
    for (const child of busy) child.kill('SIGKILL');
  });
}

/** Of each loss, the share of the names that is to be resolved in each run. */
const SHARES = [
  { loss: 0.1, resolved: 0.999 },
  { loss: 0.3, resolved: 0.995 },
  { loss: 0.5, resolved: 0.98 },
] as const;

/** The worst of all runs against an upstream of its own. */
async function leastResolved(loss: number): Promise<number> {
  const { path, serving } = await start();
  path.loss = loss;
  const took = await askAsStubs({
    port: serving.port,
    perSecond: PER_SECOND,
    names: RUNS * NAMES_PER_RUN,
    makeName: (index) => `n${index}.outside.example`,
  });
  const runs = Array.from({ length: RUNS }, (_, run) => {
    const names = took.slice(run * NAMES_PER_RUN, (run + 1) * NAMES_PER_RUN);
    return names.filter(Number.isFinite).length / NAMES_PER_RUN;
  });
  return Math.min(...runs);
}

it.each([
  ['on a quiet machine', 0],
  ['beside two busy processes', 2],
])(
  `stub clients %s get their share of names in each of ${RUNS} runs`,
  { timeout: 120_000 },
  async (_, busy) => {
    occupy(busy);
    // Side by side: each of them waits for most of its time.
    const least = await Promise.all(SHARES.map(({ loss }) => leastResolved(loss)));
    for (const [index, { loss, resolved }] of SHARES.entries())
      expect(least[index], `at a loss of ${loss}`).toBeGreaterThanOrEqual(resolved);
  },
);

it('a stall of a second loses none of 5,000 names', { timeout: 60_000 }, async () => {
  const { upstream, path, serving } = await start();
  setTimeout(() => {
    path.stalledUntil = performance.now() + 1000;
  }, 3000);
  const names = 5000;
  const took = await askAsStubs({
    port: serving.port,
    perSecond: 500,
    names,
    makeName: (index) => `n${index}.outside.example`,
  });
  expect(took.filter(Number.isFinite).length).toBe(names);
  expect(upstream.count).toBeLessThanOrEqual(1.3 * names);
});

it('a refused server costs a sequential client half a second for a name at most', async () => {
  const { upstream, serving } = await start();
  const { port } = serving;
  const took: number[] = [];
  const askNext = async () => {
    const begun = performance.now();
    await ask({ address: '127.0.0.1', port }, `n${took.length}.outside.example`, 'A');
    took.push(performance.now() - begun);
  };
  await askNext();
  await upstream.stop();
  for (let name = 0; name < 20; name += 1) await askNext();
  // The first name waits for the server to restart.
  const mean = took.slice(1).reduce((sum, each) => sum + each, 0) / 20;
  expect(mean).toBeLessThanOrEqual(500);
  expect(Math.max(...took.slice(2))).toBeLessThanOrEqual(500);
});
