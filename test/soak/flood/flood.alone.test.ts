/**
 * A flood of names that do not exist: names in the table are answered as before, and memory stays bounded.
 */
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { denyAll, keepSilent } from '@portolan/testing/upstream/reactions.ts';
import { afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { bundleBurstLoad } from '../../support/bundle-thread.ts';
import { BurstLoad } from '../../support/burst-load.ts';
import { readKernelDrops } from '../../support/kernel-drops.ts';
import { endAllPrograms, look, type Serving, servePortolan } from '../../support/portolan.ts';
import { Flood } from './flood.ts';

afterEach(endAllPrograms);

let loadEntry: URL;
beforeAll(async () => {
  loadEntry = await bundleBurstLoad();
});

const MEBIOCTET = 2 ** 20;
/** Mebibytes. */
const MAX_GROWTH = 24;
const MAX_RESIDENT = 400;

async function readMetric(serving: Serving, name: string): Promise<number> {
  const { text } = await look(serving, '/metrics');
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1],
  );
}

/** Half a minute: the first half the servers deny every name, the second they say nothing, and questions pile up. */
const PHASE_SECONDS = 15;
/** Of 16 clients together more than the 1,500 questions that may be under way. */
const OUTSTANDING = 128;

it('a flood costs no answer of the table, and no memory beyond its bounds', {
  timeout: 300_000,
}, async () => {
  const upstream = await LoopbackUpstream.start(denyAll, { remembers: false });
  onTestFinished(() => upstream.stop());
  const flags = ['--example', '--upstream', upstream.address, '--cache-bytes', String(MEBIOCTET)];
  const serving = await servePortolan(flags);
  await serving.program.heard('cluster listed');
  const load = new BurstLoad(loadEntry, {
    address: serving.address,
    port: serving.port,
    sockets: 8,
    burst: 4,
    every: 4,
    questions: [
      { name: 'cart.shop.svc.cluster.local', answer: '10.96.20.10' },
      { name: 'kubernetes.default.svc.cluster.local', answer: '10.96.0.1' },
      { name: 'www.example.com.shop.svc.cluster.local', answer: 'NXDOMAIN' },
    ],
  });
  const flood = new Flood(serving.port, 16, OUTSTANDING);
  onTestFinished(() => flood.stop());
  await waitUntil('the flood to fill the cache', () => flood.answered > 12_000, { deadline: 120_000 });
  const denied = await goOn(serving, flood);
  upstream.react = keepSilent;
  const silent = await goOn(serving, flood);
  await load.stop();
  flood.stop();
  // Questions of the flood fill receive buffers too: what the kernel dropped the server has never seen.
  const dropped = readKernelDrops(({ port }) => port === serving.port);
  console.log(
    `flood: ${denied.perSecond | 0} a second denied, ${silent.perSecond | 0} refused, ` +
      `${Math.max(...silent.inFlight)} under way, ${silent.inFlight.at(-1)} at the end, ` +
      `${load.answered} table hits beside it, ${load.lost} lost, ${dropped} packets dropped by the kernel, slowest ${load.takeSlowest() | 0} ms, ` +
      `resident MiB ${denied.resident.join(' ')}, then ${silent.resident.join(' ')}`,
  );
  expect(load).toMatchObject({ wrong: 0, refused: 0, answered: load.asked - load.lost });
  // All clients share an address: where the flood fills the receive buffer, the server drops packets of any of them.
  const shed = await readMetric(serving, 'portolan_udp_shed_total');
  expect(load.lost).toBeLessThanOrEqual(dropped + shed);
  expect(load.answered).toBeGreaterThan(load.asked / 2);
  expect(denied.answered).toBeGreaterThan(0);
  // Servers that are down are not waited for: clients are refused at once, while one query tests the servers.
  expect(silent.answered).toBeGreaterThan(denied.answered / 10);
  expect(silent.inFlight.at(-1)).toBeLessThan(100);
  expect(Math.max(...denied.inFlight, ...silent.inFlight)).toBeLessThanOrEqual(1_500);
  for (const { resident } of [denied, silent]) {
    // Garbage makes it go up and down; what is held comes to light when it was collected.
    const first = resident.slice(0, 10);
    const last = resident.slice(10);
    expect(Math.min(...last)).toBeLessThan(Math.max(...first) + MAX_GROWTH);
    expect(Math.max(...resident)).toBeLessThan(MAX_RESIDENT);
  }
  expect(await readMetric(serving, 'portolan_cache_evictions_total')).toBeGreaterThan(0);
  expect(await readMetric(serving, 'portolan_internal_errors_total')).toBe(0);
});

/** Lets the flood go on for a phase: its answers in a second, and once a second the server's mebibytes and its queries to upstreams. */
async function goOn(serving: Serving, flood: Flood) {
  const answered = flood.answered;
  const began = performance.now();
  const resident: number[] = [];
  const inFlight: number[] = [];
  for (let second = 1; second <= PHASE_SECONDS; second += 1) {
    await waitUntil('a second to pass', () => performance.now() >= began + second * 1000);
    const octets = await readMetric(serving, 'process_resident_memory_bytes');
    resident.push(Math.round(octets / MEBIOCTET));
    inFlight.push(await readMetric(serving, 'portolan_forward_inflight_queries'));
  }
  const more = flood.answered - answered;
  return { answered: more, perSecond: more / PHASE_SECONDS, resident, inFlight };
}
