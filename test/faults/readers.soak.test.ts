/**
 * The guarantee of the readers: questions that the table can answer are answered, whatever happens to the main thread or to one
 * of them.
 */
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { beforeAll, expect, it } from 'vitest';
import { bundleBurstLoad, bundleServerThreads, bundleThread } from '../support/bundle-thread.ts';
import { BurstLoad, type BurstPlan } from '../support/burst-load.ts';
import { type InProcessServer, serveInProcess } from './in-process-server.ts';

let readerEntry: URL;
let mortalEntry: URL;
let loadEntry: URL;
beforeAll(async () => {
  readerEntry = await bundleServerThreads();
  mortalEntry = await bundleThread('test/faults/mortal-reader-thread.ts');
  loadEntry = await bundleBurstLoad();
});

function startLoad({ address, port }: InProcessServer, changes: Partial<BurstPlan> = {}): BurstLoad {
  const questions = [
    { name: 'cart.shop.svc.cluster.local', answer: '10.96.20.10' },
    { name: 'CART.shop.SVC.cluster.local', answer: '10.96.20.10' },
    { name: 'postgres-1.postgres.data.svc.cluster.local', answer: '10.244.2.20' },
    { name: 'none.shop.svc.cluster.local', answer: 'NXDOMAIN' },
    { name: 'www.example.com.svc.cluster.local', answer: 'NXDOMAIN' },
  ];
  return new BurstLoad(loadEntry, { address, port, questions, sockets: 16, burst: 8, every: 4, ...changes });
}

/**
 * Keeps the main thread from doing anything else, as a long collection of garbage or a relist would, until something has
 * happened in another thread.
 *
 * @returns whether it has happened within half a minute
 */
function blockThreadUntil(condition: () => boolean): boolean {
  const word = new Int32Array(new SharedArrayBuffer(4));
  const end = performance.now() + 30_000;
  while (!condition() && performance.now() < end) Atomics.wait(word, 0, 0, 100);
  return condition();
}

it('a main thread that does nothing else delays no answer of the table', async () => {
  const serving = await serveInProcess({ example: true }, { readerEntry });
  const load = startLoad(serving);
  await waitUntil('the load', () => load.answered > 500);
  const before = load.answered;
  // More than can be unanswered at once: questions that come while the thread is blocked are answered.
  expect(blockThreadUntil(() => load.answered > before + 1_000)).toBe(true);
  await load.stop();
  expect(load).toMatchObject({ lost: 0, wrong: 0, refused: 0, answered: load.asked });
});

it('a reader that dies is replaced, and what waits in its socket is answered by the next', async () => {
  const serving = await serveInProcess({ example: true, udpReaders: '2' }, { readerEntry: mortalEntry });
  const { server } = serving;
  const load = startLoad(serving);
  const deaths = 5;
  for (let death = 1; death <= deaths; death += 1) {
    const before = load.answered;
    await waitUntil('answers', () => load.answered > before + 200);
    // The question dies with the reader that it reaches.
    await expect(askShort(serving, 'die.cluster.local', 'A', { deadline: 50 })).rejects.toThrow('no answer');
    await waitUntil('the successor', () => server.stats().udp?.restarts === death);
  }
  const before = load.answered;
  await waitUntil('answers after all', () => load.answered > before + 500);
  await load.stop();
  console.log(`${deaths} readers killed: ${load.lost} of ${load.asked} queries lost`);
  // What a reader had in hand when it died goes with it: at most a batch of 64.
  expect(load.lost).toBeLessThanOrEqual(deaths * 64);
  const { wrong, refused, answered } = load;
  expect({ wrong, refused, answered }).toEqual({ wrong: 0, refused: 0, answered: load.asked - load.lost });
  expect(await askShort(serving, 'cart.shop.svc.cluster.local', 'A')).toBe('10.96.20.10');
  expect(server.stats().udp?.readers.reduce((sum, { faults }) => sum + faults, 0)).toBe(0);
});
