/**
 * Retries must not cause a collapse: the load on a slow or stalled server, and the time to recovery. In virtual time.
 */
import { parseName, toKey } from '@portolan/dns/name.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { defaultRule, type ForwardRule } from '@portolan/kernel/forward/forward-plan.ts';
import { Forwarder } from '@portolan/kernel/forward/forwarder.ts';
import { parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { answerAfter, answerInTurn, keepSilent } from '@portolan/testing/upstream/reactions.ts';
import type { React } from '@portolan/testing/upstream/received-query.ts';
import { getQuestion } from '@portolan/testing/upstream/reply.ts';
import { VirtualUpstream } from '@portolan/testing/upstream/virtual-upstream.ts';
import { describe, expect, it } from 'vitest';
import { planFor, questionFor } from './forwarder-on-loopback.ts';

interface Outcome {
  readonly askedAt: number;
  readonly milliseconds: number;
  readonly isAnswered: boolean;
}

class Load {
  readonly clock = new ManualClock();
  readonly server: VirtualUpstream;
  readonly forwarder: Forwarder;
  readonly outcomes: Outcome[] = [];

  constructor(makeReaction: (clock: ManualClock) => React) {
    this.server = new VirtualUpstream(this.clock, makeReaction(this.clock));
    this.forwarder = new Forwarder(planFor(['192.0.2.1']), {
      clock: this.clock,
      log: silentLog,
      resolveName: () => Promise.reject(new Error('no names here')),
      random: () => 0.5,
      connect: () => this.server,
    });
  }

  ask(name: string): void {
    const askedAt = this.clock.monotonic();
    void this.forwarder.resolve(questionFor(name), { address: `10.0.0.${askedAt % 50}` }).then((reply) => {
      const milliseconds = this.clock.monotonic() - askedAt;
      this.outcomes.push({ askedAt, milliseconds, isAnswered: reply.kind === 'reply' });
    });
  }

  async advance(milliseconds: number): Promise<void> {
    for (let turn = 0; turn < milliseconds; turn += 2) {
      this.clock.advance(2);
      await Promise.resolve();
      await Promise.resolve();
    }
  }

  /** So many names a second, for so long, each asked for once. */
  async askSteadily(perSecond: number, milliseconds: number): Promise<void> {
    const count = (perSecond * milliseconds) / 1000;
    for (let index = 0; index < count; index += 1) {
      this.ask(`n${index}.example.`);
      await this.advance(1000 / perSecond);
    }
    await this.advance(6000);
    this.forwarder.stop();
  }
}

/** Names that begin with `slow` take long. */
const answerSlowNames: React = (received) => {
  const isSlow = getQuestion(received.query).name.startsWith('slow');
  answerAfter(isSlow ? 1500 : 1)(received);
};

describe('retries', () => {
  it('are one for each slow name and a few more, after replies that came from the cache of the server', async () => {
    const load = new Load(() => answerSlowNames);
    for (let index = 0; index < 20; index += 1) {
      load.ask(`fast${index}.example.`);
      await load.advance(10);
    }
    const sent = () => load.server.count;
    const before = sent();
    for (let index = 0; index < 20; index += 1) load.ask(`slow${index}.example.`);
    await load.advance(6000);
    expect(load.outcomes.filter(({ isAnswered }) => isAnswered).length).toBe(40);
    expect(sent() - before).toBeLessThanOrEqual(46);
    load.forwarder.stop();
  });

  it.each([
    ['keeps', Number.POSITIVE_INFINITY],
    ['loses a part of', 280],
  ])('let a server that stalled for a second and %s its queries recover', async (_, queue) => {
    const stall = { stallAt: 3000, stallFor: 1000 };
    const load = new Load((clock) => answerInTurn(clock, { perSecond: 1000, queue, ...stall }));
    await load.askSteadily(500, 10_000);
    expect(load.outcomes.length).toBe(5000);
    expect(load.forwarder.statistics().refused).toBe(0);
    expect(load.outcomes.filter(({ isAnswered }) => !isAnswered).length).toBe(0);
    expect(load.server.asked / 5000).toBeLessThanOrEqual(1.2);
    const later = load.outcomes.filter(({ askedAt }) => askedAt >= 3000 + 1000 + 2000);
    expect(Math.max(...later.map(({ milliseconds }) => milliseconds))).toBeLessThan(20);
  });
});

describe('a stub zone whose servers are dead', () => {
  it('takes nothing from the other zones, and its questions fail at once but for one that tests the servers', async () => {
    const clock = new ManualClock();
    const dead = new VirtualUpstream(clock, keepSilent);
    const healthy = new VirtualUpstream(clock, answerAfter(5));
    const stub: ForwardRule = {
      ...defaultRule([parseUpstream('192.0.2.2')]),
      names: [{ kind: 'domain', name: toKey(parseName('dead.example.')) }],
    };
    const plan = planFor(['192.0.2.1']);
    const forwarder = new Forwarder(
      { ...plan, rules: [...plan.rules, stub] },
      {
        clock,
        log: silentLog,
        resolveName: () => Promise.reject(new Error('no names here')),
        random: () => 0.5,
        connect: (_, address) => (address === '192.0.2.2' ? dead : healthy),
      },
    );
    const ask = (name: string) => forwarder.resolve(questionFor(name), { address: '10.0.0.1' });
    const failures: string[] = [];
    let answered = 0;
    for (let turn = 0; turn < 7500; turn += 5) {
      for (const part of ['a', 'b', 'c'])
        void ask(`${part}${turn}.dead.example.`).then((reply) => {
          if (reply.kind === 'failed') failures.push(reply.reason);
        });
      if (turn % 100 === 0)
        for (const part of ['a', 'b', 'c'])
          void ask(`${part}${turn}.example.`).then((reply) => {
            if (reply.kind === 'reply' && reply.milliseconds < 20) answered += 1;
          });
      clock.advance(5);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(answered).toBe(225);
    expect(forwarder.statistics().inFlight).toBeLessThanOrEqual(1500);
    expect(failures.filter((reason) => reason === 'down').length).toBeGreaterThan(1000);
    dead.react = answerAfter(5);
    clock.advance(2500);
    await new Promise((resolve) => setImmediate(resolve));
    const reply = ask('back.dead.example.');
    clock.advance(10);
    expect((await reply).kind).toBe('reply');
    forwarder.stop();
  });
});

describe('groups of servers that do not answer', () => {
  const zones = Array.from({ length: 12 }, (_, index) => `dead${index}.example`);
  const ruleFor = (zone: string, server: string): ForwardRule => ({
    ...defaultRule([parseUpstream(server)]),
    names: [{ kind: 'domain', name: toKey(parseName(`${zone}.`)) }],
  });

  it('have a bound together, and leave room for a group that does', async () => {
    const clock = new ManualClock();
    const limits = { inFlight: 15, perClient: 15, queued: 15, queueDeadline: 1000 };
    const rules = [
      ...zones.map((zone, index) => ruleFor(zone, `192.0.2.${index + 1}`)),
      ruleFor('alive.example', '198.51.100.1'),
    ];
    const forwarder = new Forwarder(
      { ...planFor([], { limits, failFast: false }), rules },
      {
        clock,
        log: silentLog,
        resolveName: () => Promise.reject(new Error('no names here')),
        connect: (_, address) =>
          new VirtualUpstream(clock, address === '198.51.100.1' ? answerAfter(2) : keepSilent),
      },
    );
    for (let turn = 0; turn < 100; turn += 1)
      for (const zone of zones)
        void forwarder.resolve(questionFor(`n${turn}.${zone}.`), { address: `10.0.0.${turn}` });
    const { inFlight, queued } = forwarder.statistics();
    expect(inFlight + queued).toBeGreaterThan(100);
    expect(inFlight + queued).toBeLessThanOrEqual(4 * 30);
    const reply = forwarder.resolve(questionFor('www.alive.example.'), { address: '10.0.1.1' });
    clock.advance(10);
    expect((await reply).kind).toBe('reply');
    forwarder.stop();
  });
});
