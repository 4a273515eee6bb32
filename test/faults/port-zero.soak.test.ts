/**
 * Queries from port 0 among those of many good clients, over the whole program: clients lose no answer to a forged packet.
 */
import { encodeMessage } from '@portolan/dns/message.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';
import { afterEach, beforeAll, expect, onTestFinished } from 'vitest';
import { bundleBurstLoad } from '../support/bundle-thread.ts';
import { BurstLoad } from '../support/burst-load.ts';
import { mayForge, PortZeroSender } from '../support/port-zero-sender.ts';
import { endAllPrograms, look, servePortolan } from '../support/portolan.ts';
import { itWhere } from '../support/tools.ts';

let loadEntry: URL;
beforeAll(async () => {
  loadEntry = await bundleBurstLoad();
});
afterEach(endAllPrograms);

const FORGED = 5_000;
/** Sent at a stretch, until the server has counted them: no receive buffer overflows. */
const STRETCH = 100;
/** One that a reader answers, one that the main thread does. */
const TABLE = { name: 'cart.shop.svc.cluster.local', answer: '10.96.20.10' };
const CHAIN = { name: 'www.example.com', answer: 'REFUSED' };

itWhere(mayForge, 'raw sockets', 'queries from port 0 cost no other client its answer', async () => {
  const serving = await servePortolan(['--example']);
  await serving.program.heard('cluster listed');
  const { address, port } = serving;
  const questions = [TABLE, TABLE, TABLE, CHAIN];
  const load = new BurstLoad(loadEntry, { address, port, questions, sockets: 16, burst: 32, every: 4 });
  const sender = new PortZeroSender();
  onTestFinished(() => sender.close());
  const queries = [TABLE, CHAIN].map(({ name }) => encodeMessage(makeQuery(name, 'A')));
  const readMetric = async (name: string) => {
    const { text } = await look(serving, '/metrics');
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
  };
  for (let forged = 0; forged < FORGED; forged += STRETCH) {
    for (let index = 0; index < STRETCH; index += 1)
      sender.send(port, queries[index & 1] ?? new Uint8Array());
    await expect
      .poll(() => readMetric('portolan_udp_packets_total'), { timeout: 30_000, interval: 5 })
      .toBeGreaterThanOrEqual(load.answered + forged + STRETCH);
  }
  await waitUntil('answers', () => load.answered > 5_000);
  await load.stop();
  expect(load).toMatchObject({ lost: 0, wrong: 0, refused: 0, answered: load.asked });

  expect(await readMetric('portolan_udp_packets_total')).toBe(load.asked + FORGED);
  // Every forged one was answered, the last ones by the main thread a moment later, and could not be sent; or it was dropped when the
  // main thread was behind.
  const countForged = async () =>
    (await readMetric('portolan_udp_send_errors_total\\{reason="refused"\\}')) +
    (await readMetric('portolan_slow_path_dropped_total'));
  await expect.poll(countForged).toBe(FORGED);
  expect(await readMetric('portolan_internal_errors_total')).toBe(0);
});
