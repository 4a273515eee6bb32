/**
 * Names that nobody has, as fast as they can be asked for: what the table holds is answered as before, and memory has an end.
 */
import { afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { BurstLoad } from '../support/burst-load.ts';
import { endAllPrograms, look, type Serving, servePortolan } from '../support/portolan.ts';
import { waitUntil } from '../support/wait-until.ts';
import { DenyingUpstream, Flood } from './flood.ts';

afterEach(endAllPrograms);

let loadEntry: URL;
beforeAll(async () => {
  loadEntry = await bundleThread('test/support/burst-load-thread.ts');
});

const MEBIOCTET = 2 ** 20;
/** What garbage that is not collected yet may make of it. */
const MOST_GROWTH = 48 * MEBIOCTET;

async function readMetric(serving: Serving, name: string): Promise<number> {
  const { text } = await look(serving, '/metrics');
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1],
  );
}

it('a flood costs no answer of the table, and no memory beyond its bounds', { timeout: 60_000 }, async () => {
  const upstream = await DenyingUpstream.start();
  onTestFinished(() => upstream.stop());
  const flags = ['--example', '--upstream', upstream.address, '--cache-bytes', String(MEBIOCTET)];
  const serving = await servePortolan(flags);
  await serving.program.heard('cluster listed');
  const load = new BurstLoad(loadEntry, {
    ...{ address: serving.address, port: serving.port, sockets: 8, burst: 4, every: 4 },
    questions: [
      { name: 'cart.shop.svc.cluster.local', answer: '10.96.20.10' },
      { name: 'kubernetes.default.svc.cluster.local', answer: '10.96.0.1' },
      { name: 'www.example.com.shop.svc.cluster.local', answer: 'NXDOMAIN' },
    ],
  });
  const flood = new Flood(serving.port, 16);
  onTestFinished(() => flood.stop());
  await waitUntil('the flood to fill the cache', () => flood.answered > 12_000, { deadline: 30_000 });
  const before = await readMetric(serving, 'process_resident_memory_bytes');
  const [answeredBefore, end] = [flood.answered, performance.now() + 4_000];
  await waitUntil('the flood to go on', () => performance.now() > end);
  const grown = (await readMetric(serving, 'process_resident_memory_bytes')) - before;
  const perSecond = (flood.answered - answeredBefore) / 4;
  flood.stop();
  await load.stop();
  console.log(
    `flood: ${perSecond | 0} a second, ${load.answered} table hits beside it, ${load.lost} lost, ` +
      `slowest ${load.takeSlowest() | 0} ms, memory ${(grown / MEBIOCTET) | 0} MiB more`,
  );
  expect(load).toMatchObject({ lost: 0, wrong: 0, refused: 0, answered: load.asked });
  expect(perSecond).toBeGreaterThan(100);
  expect(grown).toBeLessThan(MOST_GROWTH);
  expect(await readMetric(serving, 'portolan_cache_evictions_total')).toBeGreaterThan(0);
  expect(await readMetric(serving, 'portolan_internal_errors_total')).toBe(0);
  expect(await readMetric(serving, 'portolan_ring_drops_total')).toBe(0);
});
