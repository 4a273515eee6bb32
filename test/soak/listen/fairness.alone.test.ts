/**
 * One client's flood of questions that readers cannot answer does not stop other clients' outside names.
 *
 * The flood goes to one address of the server and the others use another, so that each has its own receive buffers and the kernel's
 * drops, which depend on the machine, are known for each. They share one server: its readers, its ring, its main thread.
 * `npm run bench -- hostile` measures both at one address.
 */
import { createSocket } from 'node:dgram';
import { Worker } from 'node:worker_threads';
import { encodeMessage } from '@portolan/dns/message.ts';
import { rcodeName } from '@portolan/dns/mnemonics.ts';
import { RCODE } from '@portolan/dns/types.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { denyAll } from '@portolan/testing/upstream/reactions.ts';
import { afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { bundleThread } from '../../support/bundle-thread.ts';
import { readKernelDrops } from '../../support/kernel-drops.ts';
import { endAllPrograms, servePortolan } from '../../support/portolan.ts';
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
/** Of loopback, where the clients are from. */
const FIRST_CLIENT = 71;
/** The address of the server that the flood does not go to. */
const FOR_OTHERS = '127.0.0.2';
const ROUNDS = 250;
const EVERY_MILLISECONDS = 20;
const UNANSWERED = 100;
const LAST_MILLISECONDS = 10_000;

interface Heard {
  asked: number;
  /** Denials, as the upstream gives them. */
  answered: number;
  /** Responses that the server gave in its place, by response code. */
  readonly others: Record<string, number>;
}

/** Clients that each ask a new outside name every 20 ms, once. */
async function askOutsideNames(port: number): Promise<Heard> {
  const heard = { asked: 0, answered: 0, others: {} as Record<string, number> };
  let responses = 0;
  const sockets = Array.from({ length: CLIENTS }, (_, index) => {
    const socket = createSocket('udp4');
    socket.bind(0, `127.0.0.${FIRST_CLIENT + index}`);
    socket.on('message', (message) => {
      responses++;
      const rcode = message.readUInt8(3) & 15;
      if (rcode === RCODE.NXDOMAIN) heard.answered++;
      else heard.others[rcodeName(rcode)] = (heard.others[rcodeName(rcode)] ?? 0) + 1;
    });
    onTestFinished(() => void socket.close());
    return socket;
  });
  for (let round = 0; round < ROUNDS; round++) {
    const next = performance.now() + EVERY_MILLISECONDS;
    for (const socket of sockets) {
      const name = `n${heard.asked}.others.example`;
      heard.asked++;
      socket.send(encodeMessage(makeQuery(name, 'A')), port, FOR_OTHERS);
    }
    // Slower where the machine is slow: never more unanswered than a receive buffer holds.
    await waitUntil(
      'the next turn',
      () => performance.now() >= next && heard.asked - responses < UNANSWERED,
      {
        deadline: 1_000,
      },
    ).catch(() => {});
  }
  const last = performance.now() + LAST_MILLISECONDS;
  await waitUntil('the last answers', () => responses === heard.asked || performance.now() >= last);
  return heard;
}

/** What the others lost to full receive buffers: of the server's own socket for them, of the upstream, and of themselves. */
function readDropsOfOthers(port: number, upstreamPort: number): number {
  return readKernelDrops(
    (socket) =>
      (socket.address === FOR_OTHERS && socket.port === port) ||
      socket.port === upstreamPort ||
      /^127\.0\.0\.(7[1-9]|80)$/.test(socket.address),
  );
}

it('up to 200,000 ANY a second from one client leave others their outside names', {
  timeout: 180_000,
}, async () => {
  const upstream = await LoopbackUpstream.start(denyAll, { remembers: false });
  onTestFinished(() => upstream.stop());
  const flags = ['--example', '--upstream', upstream.address, '--dns-bind-address', FOR_OTHERS];
  const serving = await servePortolan(flags);
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
  const before = Atomics.load(words, 1);
  const began = performance.now();
  const { asked, answered, others } = await askOutsideNames(serving.port);
  const perSecond = ((Atomics.load(words, 1) - before) / (performance.now() - began)) * 1000;
  const dropped = readDropsOfOthers(serving.port, Number(upstream.address.split(':')[1]));
  console.log(
    `ANY: ${perSecond | 0} a second beside ${answered} of ${asked} outside names answered, ` +
      `${dropped} packets of others dropped by the kernel, other responses ${JSON.stringify(others)}`,
  );
  expect(answered).toBeGreaterThanOrEqual(asked * 0.99 - dropped);
});
