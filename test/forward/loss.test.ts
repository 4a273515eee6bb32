/**
 * The results of a client with two attempts of five seconds while servers die or packets are lost, over thousands of
 * questions in virtual time. A seeded generator draws the losses, so they are the same in each run.
 */
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { Forwarder, type ForwardReply } from '@portolan/kernel/forward/forwarder.ts';
import { answerAfter, keepSilent, loseShare } from '@portolan/testing/upstream/reactions.ts';
import type { React } from '@portolan/testing/upstream/received-query.ts';
import { VirtualUpstream } from '@portolan/testing/upstream/virtual-upstream.ts';
import { describe, expect, it } from 'vitest';
import { planFor, questionFor } from './forwarder-on-loopback.ts';

const QUESTIONS = 5000;
const CLIENT_TRY = 5000;

interface Seen {
  readonly answered: number;
  /** Milliseconds that the slowest of the fastest 99 of 100 answers took, tries included. */
  readonly p99: number;
  /** Queries to both servers, for all tries of a client. */
  readonly sentPerQuestion: number;
}

/** Ten questions a second, each asked again by its client after 5 s without an answer. */
async function observe(first: React, second: React, hedging: boolean): Promise<Seen> {
  const clock = new ManualClock();
  const servers = new Map(
    [first, second].map((react, index) => [`192.0.2.${index + 1}`, new VirtualUpstream(clock, react)]),
  );
  const forwarder = new Forwarder(planFor([...servers.keys()], { hedging }), {
    clock,
    log: silentLog,
    resolveName: () => Promise.reject(new Error('no names here')),
    random: seeded(7),
    connect: (_, address) => servers.get(address) ?? new VirtualUpstream(clock, keepSilent),
  });
  const times: number[] = [];
  for (let index = 0; index < QUESTIONS; index += 1) {
    const askedAt = clock.monotonic();
    const question = questionFor(`n${index}.example.`);
    const take = (reply: ForwardReply) => {
      if (reply.kind === 'reply' && reply.message.header.rcode === 0) times.push(clock.monotonic() - askedAt);
      return reply.kind === 'reply';
    };
    const ask = () => forwarder.resolve(question, { address: '10.0.0.1' }).then(take);
    void ask().then((isAnswered) => {
      const left = Math.max(0, CLIENT_TRY - (clock.monotonic() - askedAt));
      if (!isAnswered) clock.after(left, () => void ask());
    });
    for (let turn = 0; turn < 10; turn += 1) {
      clock.advance(10);
      await Promise.resolve();
    }
  }
  for (let turn = 0; turn < 120; turn += 1) {
    clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const sent = [...servers.values()].reduce((sum, { asked }) => sum + asked, 0);
  forwarder.stop();
  times.sort((one, other) => one - other);
  return {
    answered: times.length / QUESTIONS,
    p99: times[Math.floor(QUESTIONS * 0.99)] ?? Number.POSITIVE_INFINITY,
    sentPerQuestion: sent / QUESTIONS,
  };
}

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

/** Loses so large a part of the queries, and as large a part of the replies. */
function lossy(loss: number, seed: number): React {
  return loseShare(loss, seeded(seed), answerAfter(20));
}

const GOOD = answerAfter(20);

describe.each([true, false])('a client with two tries of 5 s, hedging %s', (hedging) => {
  it('notices nothing of a dead server beside a good one', async () => {
    const seen = await observe(keepSilent, GOOD, hedging);
    expect(seen.answered).toBe(1);
    expect(seen.p99).toBeLessThan(100);
    expect(seen.sentPerQuestion).toBeLessThan(1.1);
  });

  it('is answered 99.9 times of 100 with 30 % loss each way and one server alive', async () => {
    const seen = await observe(keepSilent, lossy(0.3, 1), hedging);
    expect(seen.answered).toBeGreaterThanOrEqual(0.999);
    expect(seen.sentPerQuestion).toBeLessThan(2.5);
  });

  it('is answered so with 30 % loss on both', async () => {
    const seen = await observe(lossy(0.3, 2), lossy(0.3, 3), hedging);
    expect(seen.answered).toBeGreaterThanOrEqual(0.999);
    expect(seen.p99).toBeLessThan(5000);
  });

  it('gets no answer from dead servers, and costs them few queries', async () => {
    const seen = await observe(keepSilent, keepSilent, hedging);
    expect(seen.answered).toBe(0);
    // Two tries, each of a handful of queries to either server.
    expect(seen.sentPerQuestion).toBeLessThan(14);
  });
});
