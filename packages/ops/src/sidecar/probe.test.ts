import { parseName } from '@portolan/dns/name.ts';
import { CLASS, type Message, type Question, TYPE } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import type { ProbePlan } from '@portolan/server/settings/sidecar/sidecar-plan.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { Probe } from './probe.ts';
import type { ServerReply } from './server-question.ts';

const plan: ProbePlan = {
  label: 'x',
  server: { host: '127.0.0.1', port: 53 },
  name: parseName('a.test'),
  type: TYPE.A,
  interval: 5_000,
};

let clock: ManualClock;
let log: RecordingLog;
let asked: { question: Question; answer: (reply: ServerReply) => void }[];

beforeEach(() => {
  clock = new ManualClock();
  log = new RecordingLog();
  asked = [];
});

function start(random = 0): Probe {
  const ask = (question: Question) =>
    new Promise<ServerReply>((answer) => void asked.push({ question, answer }));
  const probe = new Probe(plan, { ask, clock, log, random: () => random });
  probe.start();
  return probe;
}

function replied(answers: number, latency = 0.4): ServerReply {
  const record = { name: plan.name, class: CLASS.IN, ttl: 1, data: { kind: 'A', address: '192.0.2.1' } };
  // The probe reads only these fields of a message.
  const message = { answers: Array.from({ length: answers }, () => record) } as unknown as Message;
  return { kind: 'replied', message, latency };
}

/** Replies to the last question, and lets the probe process the reply. */
async function answer(reply: ServerReply): Promise<void> {
  asked.at(-1)?.answer(reply);
  await new Promise((resolve) => setImmediate(resolve));
}

const FAILED: ServerReply = { kind: 'failed', reason: 'i/o timeout' };

describe('a probe', () => {
  it('waits for a part of its interval before it asks first', () => {
    const probe = start(0.5);
    clock.advance(2_499);
    expect(asked).toHaveLength(0);
    expect(probe.state).toEqual({ kind: 'waiting' });
    clock.advance(1);
    expect(asked.map(({ question }) => question)).toEqual([
      { name: 'a.test.', type: TYPE.A, class: CLASS.IN },
    ]);
  });

  it('is healthy with a record, not without, whatever was before', async () => {
    const probe = start();
    clock.advance(0);
    await answer(replied(1));
    expect(probe.state).toEqual({ kind: 'healthy', latency: 0.4 });
    clock.advance(5_000);
    await answer(replied(0));
    expect(probe.state).toEqual({ kind: 'unhealthy', reason: 'no RRs for domain "a.test."' });
    clock.advance(5_000);
    await answer(FAILED);
    expect(probe.state).toEqual({ kind: 'unhealthy', reason: 'i/o timeout' });
    clock.advance(5_000);
    await answer(replied(3, 7));
    expect(probe.state).toEqual({ kind: 'healthy', latency: 7 });
    expect(probe.errors).toBe(2);
    expect([probe.latencies.count, probe.latencies.sum]).toEqual([2, 7.4]);
  });

  it('begins every interval, and never while the last one runs', async () => {
    start();
    clock.advance(0);
    clock.advance(60_000);
    expect(asked).toHaveLength(1);
    await answer(FAILED);
    clock.advance(0);
    expect(asked).toHaveLength(2);
    clock.advance(2_000);
    await answer(FAILED);
    clock.advance(2_999);
    expect(asked).toHaveLength(2);
    clock.advance(1);
    expect(asked).toHaveLength(3);
  });

  it('says when it turns, and the rest to those who look for a fault', async () => {
    start();
    for (const reply of [replied(1), FAILED, FAILED, replied(1), replied(1)]) {
      clock.advance(5_000);
      await answer(reply);
    }
    expect(log.records.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      'info: probe answered',
      'warn: probe failed',
      'debug: probe failed again',
      'info: probe answered',
    ]);
  });

  it('stays as it is once stopped, and asks no more', async () => {
    const probe = start();
    clock.advance(0);
    probe.stop();
    await answer(FAILED);
    clock.advance(60_000);
    expect(probe.state).toEqual({ kind: 'waiting' });
    expect(asked).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });
});
