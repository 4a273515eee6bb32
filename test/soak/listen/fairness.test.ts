/**
 * One client's flood of questions that readers cannot answer takes nobody else's outside names away.
 *
 * On a machine that runs clients, server and upstream at once the kernel drops a part of all packets before the server can see
 * them. What is lost so is not the server's choice, so that share is taken off.
 */
import { createSocket } from 'node:dgram';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { waitUntil } from '../../../src/base/testing/wait-until.ts';
import { makeQuery } from '../../../src/chain/testing/ask.ts';
import { encodeMessage } from '../../../src/wire/message.ts';
import { bundleThread } from '../../support/bundle-thread.ts';
import { endAllPrograms, look, type Serving, servePortolan } from '../../support/portolan.ts';
import { DenyingUpstream } from '../flood/flood.ts';
import type { FloodPlan } from './any-flood-thread.ts';

afterEach(endAllPrograms);

let floodEntry: URL;
beforeAll(async () => {
  floodEntry = await bundleThread('test/soak/listen/any-flood-thread.ts');
});

const PER_SECOND = 200_000;
/** Before the others begin. How fast it goes on depends on the machine. */
const MIN_SENT = 20_000;
const CLIENTS = 10;
const SECONDS = 5;
const EVERY_MILLISECONDS = 20;

/** Clients that each ask a new outside name every 20 ms, once. @returns how many questions were asked and answered */
async function askOutsideNames(port: number): Promise<{ asked: number; answered: number }> {
  const counts = { asked: 0, answered: 0 };
  const sockets = Array.from({ length: CLIENTS }, (_, index) => {
    const socket = createSocket('udp4');
    socket.bind(0, `127.0.0.${71 + index}`);
    socket.on('message', () => counts.answered++);
    onTestFinished(() => void socket.close());
    return socket;
  });
  const end = performance.now() + SECONDS * 1000;
  while (performance.now() < end) {
    const next = performance.now() + EVERY_MILLISECONDS;
    for (const socket of sockets) {
      const name = `n${counts.asked}.others.example`;
      counts.asked++;
      socket.send(encodeMessage(makeQuery(name, 'A')), port, '127.0.0.1');
    }
    await waitUntil('the next turn', () => performance.now() >= next);
  }
  const last = performance.now() + 3000;
  await waitUntil('the last answers', () => counts.answered === counts.asked || performance.now() >= last);
  return counts;
}

async function readKernelDrops(serving: Serving): Promise<number> {
  const { text } = await look(serving, '/metrics');
  return Number(/^portolan_udp_receive_buffer_dropped_total (\d+)$/m.exec(text)?.[1]);
}

it('up to 200,000 ANY a second from one client leave others their outside names', {
  timeout: 60_000,
}, async () => {
  const upstream = await DenyingUpstream.start();
  onTestFinished(() => upstream.stop());
  const serving = await servePortolan(['--example', '--upstream', upstream.address]);
  await serving.program.heard('cluster listed');
  const counts = new SharedArrayBuffer(8);
  const words = new Int32Array(counts);
  const plan: FloodPlan = { port: serving.port, perSecond: PER_SECOND, counts };
  const flood = new Worker(floodEntry, { workerData: plan });
  const ended = new Promise((resolve) => flood.once('exit', resolve));
  onTestFinished(async () => {
    Atomics.store(words, 0, 1);
    await ended;
  });
  await waitUntil('the flood', () => Atomics.load(words, 1) > MIN_SENT);
  const [before, began] = [Atomics.load(words, 1), performance.now()];
  const droppedBefore = await readKernelDrops(serving);
  const { asked, answered } = await askOutsideNames(serving.port);
  const sent = Atomics.load(words, 1) - before + asked;
  const perSecond = (sent / (performance.now() - began)) * 1000;
  const dropped = ((await readKernelDrops(serving)) - droppedBefore) / sent;
  console.log(
    `ANY: ${perSecond | 0} a second beside ${answered} of ${asked} outside names answered, ` +
      `${(dropped * 100).toFixed(1)} % of all packets dropped by the kernel`,
  );
  const delivered = asked * (1 - dropped);
  // Which packets the kernel drops is chance: three standard deviations.
  const spread = 3 * Math.sqrt(asked * dropped * (1 - dropped));
  expect(answered).toBeGreaterThanOrEqual(delivered * 0.99 - spread);
});
