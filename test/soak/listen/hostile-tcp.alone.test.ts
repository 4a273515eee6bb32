/**
 * Clients that attack the server over TCP: they hold connections and do not read their answers.
 */

import { Worker } from 'node:worker_threads';
import { frame } from '@portolan/dns/frames.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { listenOnTcp, TCP_LIMITS, type TcpLimits } from '@portolan/kernel/listen/tcp.ts';
import { queryFor } from '@portolan/testing/client/dns-client.ts';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { answerAuthoritatively, ScriptedAnswers } from '../../listen/scripted-answers.ts';
import { TcpClient } from '../../listen/tcp-client.ts';
import { bundleThread } from '../../support/bundle-thread.ts';
import type { AttackPlan } from './hostile-tcp-thread.ts';

const ANSWER_OCTETS = 60_000;

let attackEntry: URL;
beforeAll(async () => {
  attackEntry = await bundleThread('test/soak/listen/hostile-tcp-thread.ts');
});

/** A server, and what it held at most. */
async function startTcp(limits: Partial<TcpLimits> = {}) {
  const listener = await listenOnTcp({
    addresses: [{ address: '127.0.0.1', port: 0 }],
    takeover: false,
    native: true,
    answers: new ScriptedAnswers(),
    // Answers as large as a client can ask for, from the slow path.
    handleQuery: async (query) => {
      const response = new Uint8Array(ANSWER_OCTETS);
      response.set(answerAuthoritatively(query));
      return response;
    },
    udpSize: 1232,
    limits,
    clock: systemClock,
    log: silentLog,
  });
  onTestFinished(() => listener.stop(0));
  const held = { most: 0 };
  const timer = setInterval(() => {
    held.most = Math.max(held.most, listener.count().heldOctets);
  }, 1);
  onTestFinished(() => clearInterval(timer));
  return { listener, held, port: listener.endpoints[0]?.port ?? 0 };
}

/** @returns how many connections the attacker has had so far */
function attack(plan: AttackPlan): () => number {
  const worker = new Worker(attackEntry, { workerData: plan });
  let connected = 0;
  worker.on('message', () => connected++);
  onTestFinished(async () => void (await worker.terminate()));
  return () => connected;
}

/**
 * New clients, each from an address of its own, one after the other, that all get their answer on their first connection.
 *
 * @returns how long each waited for it, in milliseconds
 */
async function askAsNewClients(port: number, count: number): Promise<readonly number[]> {
  const waits: number[] = [];
  for (let index = 0; index < count; index++) {
    const began = performance.now();
    const client = new TcpClient(port, '127.0.0.1', `127.0.9.${index + 1}`);
    client.send(frame(queryFor('fast', 1)));
    await client.waitForMessages(1);
    waits.push(performance.now() - began);
    client.socket.destroy();
  }
  return waits;
}

describe('clients that take no answers', () => {
  it('cannot make the server hold more than its bound, and others are served', {
    timeout: 180_000,
  }, async () => {
    const { listener, held, port } = await startTcp();
    const octets = Buffer.concat(Array.from({ length: 100 }, (_, id) => frame(queryFor('slow', id))));
    // All that is asked on them would be 85 times 100 answers of 60,000 octets, again and again.
    attack({ port, addresses: 9, connectionsPerAddress: 10, octets });
    await waitUntil('many questions', () => listener.count().queries > 300);
    const waits = await askAsNewClients(port, 100);
    expect(held.most).toBeLessThanOrEqual(TCP_LIMITS.octets);
    expect(waits).toHaveLength(100);
    const mebibytes = (held.most / 2 ** 20).toFixed(1);
    process.stdout.write(
      `held at most ${mebibytes} MiB; slowest client ${Math.max(...waits).toFixed(0)} ms\n`,
    );
  });

  it('cannot make it hold messages that never become whole either', { timeout: 180_000 }, async () => {
    const { listener, held, port } = await startTcp();
    const octets = Buffer.concat([Uint8Array.of(0xff, 0xff), Buffer.alloc(3000)]);
    attack({ port, addresses: 4, connectionsPerAddress: 100, octets });
    await waitUntil('the bound to be reached', () => listener.count().ended.unread > 0);
    const waits = await askAsNewClients(port, 100);
    expect(waits).toHaveLength(100);
    expect(held.most).toBeLessThanOrEqual(TCP_LIMITS.octets);
  });
});

describe('clients that hold every place', () => {
  it('keep no client out: 11 addresses with 200 idle connections each', { timeout: 180_000 }, async () => {
    // So that the places are filled even by an attacker that takes its time.
    const { listener, port } = await startTcp({ idleMilliseconds: 100_000 });
    const connected = attack({
      port,
      addresses: 11,
      connectionsPerAddress: 200,
      octets: new Uint8Array(),
    });
    await waitUntil('every place to be taken', () => connected() >= 2200 && listener.count().open === 2000);
    const waits = await askAsNewClients(port, 100);
    expect(waits).toHaveLength(100);
    expect(listener.count().rejected).toBe(0);
    expect(listener.count().open).toBeLessThanOrEqual(TCP_LIMITS.connections);
    process.stdout.write(`100 new clients: ${Math.max(...waits).toFixed(0)} ms for the slowest\n`);
  });
});
