/**
 * The servers that a name is sent to, and the messages for operators.
 */
import { parseName, toKey } from '@portolan/dns/name.ts';
import { type Question, TYPE } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import {
  DEFAULT_FORWARD_PLAN,
  type ForwardPlan,
  type ForwardRule,
  type RuleMatch,
} from '@portolan/kernel/forward/forward-plan.ts';
import { Forwarder, type ForwardReply } from '@portolan/kernel/forward/forwarder.ts';
import { parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { answerAfter, keepSilent } from '@portolan/testing/upstream/reactions.ts';
import type { React } from '@portolan/testing/upstream/received-query.ts';
import { getQuestion } from '@portolan/testing/upstream/reply.ts';
import { VirtualUpstream } from '@portolan/testing/upstream/virtual-upstream.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { questionFor } from './forwarder-on-loopback.ts';

const domain = (name: string): RuleMatch => ({ kind: 'domain', name: toKey(parseName(name)) });

function rule(names: readonly RuleMatch[], ...servers: string[]): ForwardRule {
  const addresses = servers.map((text) => ({ address: parseUpstream(text), queriesPerSecond: undefined }));
  return { names, target: { kind: 'servers', servers: addresses } };
}

const running: Forwarder[] = [];
afterEach(() => {
  for (const forwarder of running.splice(0)) forwarder.stop();
});

function start(rules: readonly ForwardRule[], changes: Partial<ForwardPlan> = {}) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const servers = new Map<string, VirtualUpstream>();
  const addresses = new Map([['ns.example.', ['192.0.2.50']]]);
  const forwarder = new Forwarder(
    { ...DEFAULT_FORWARD_PLAN, hedging: false, rules, ...changes },
    {
      clock,
      log,
      resolveName: async (name) => ({ addresses: addresses.get(name) ?? [], ttl: 30 }),
      connect: (_, address) => {
        const server = new VirtualUpstream(clock, answerAfter(5));
        servers.set(address, server);
        return server;
      },
    },
  );
  running.push(forwarder);
  const ask = async (name: string): Promise<ForwardReply> => {
    const pending = forwarder.resolve(questionFor(name), { address: '10.0.0.1' });
    clock.advance(10);
    return pending;
  };
  const goesTo = async (name: string) => {
    const reply = await ask(name);
    return reply.kind === 'reply' ? reply.upstream : reply.reason;
  };
  return { clock, log, servers, addresses, forwarder, ask, goesTo };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the way of a name', () => {
  it('goes by the longest rule; exceptions go back to the default, local domains nowhere', async () => {
    const { goesTo } = start([
      rule([domain('.')], '192.0.2.1'),
      rule([domain('example.com'), domain('example.net')], '192.0.2.2', '192.0.2.3'),
      { names: [domain('www.example.com')], target: { kind: 'default' } },
      { names: [domain('lan'), { kind: 'unqualified' }], target: { kind: 'local-only' } },
    ]);
    expect(await goesTo('example.org.')).toBe('192.0.2.1:53');
    expect(await goesTo('MAIL.example.com.')).toBe('192.0.2.2:53');
    expect(await goesTo('example.net.')).toBe('192.0.2.2:53');
    expect(await goesTo('a.www.example.com.')).toBe('192.0.2.1:53');
    expect(await goesTo('printer.lan.')).toBe('local-only');
    expect(await goesTo('printer.')).toBe('local-only');
  });

  it('ends where there is no server', async () => {
    const { goesTo } = start([
      rule([domain('example.com')], '192.0.2.2'),
      { names: [domain('example.org')], target: { kind: 'default' } },
      rule([domain('example.net')], 'unknown.example'),
    ]);
    for (const name of ['www.', 'www.example.org.', 'www.example.net.'])
      expect(await goesTo(name)).toBe('no-upstream');
  });

  it('leads to a server that is given by name as soon as the name has an address', async () => {
    const { goesTo, clock, addresses, forwarder } = start([rule([domain('.')], 'ns.example#54')]);
    expect(await goesTo('www.example.')).toBe('no-upstream');
    await settled();
    expect(await goesTo('www.example.')).toBe('ns.example:54 (192.0.2.50)');
    addresses.set('ns.example.', ['192.0.2.51']);
    clock.advance(30_000);
    await settled();
    expect(await goesTo('www.example.')).toBe('ns.example:54 (192.0.2.51)');
    expect(forwarder.statistics().upstreams.length).toBe(1);
  });

  it('is one server for several rules', async () => {
    const { ask, servers, forwarder } = start([
      rule([domain('.')], '192.0.2.1'),
      rule([domain('example.com')], '192.0.2.1'),
    ]);
    await ask('www.example.com.');
    await ask('www.example.org.');
    expect(servers.size).toBe(1);
    expect(forwarder.statistics().upstreams).toMatchObject([{ sent: 2, replies: new Map([[0, 2]]) }]);
  });
});

describe('what operators are told', () => {
  it('of a server that goes silent and comes back, once each', async () => {
    const { log, servers, ask, clock } = start([rule([domain('.')], '192.0.2.1')], { loopDetection: false });
    const server = servers.get('192.0.2.1');
    if (server === undefined) throw new Error('no server');
    server.react = keepSilent;
    for (let turn = 0; turn < 8; turn += 1) void ask(`n${turn}.example.`);
    clock.advance(10_000);
    server.react = answerAfter(5);
    clock.advance(60_000);
    expect(log.records.map(({ level, message, fields }) => [level, message, fields['upstream']])).toEqual([
      ['warn', 'upstream server down', '192.0.2.1:53'],
      ['info', 'upstream server up', '192.0.2.1:53'],
    ]);
  });

  it('of a server that comes and goes, once a minute', () => {
    const { log, servers, ask, clock } = start([rule([domain('.')], '192.0.2.1')], { loopDetection: false });
    const server = servers.get('192.0.2.1');
    if (server === undefined) throw new Error('no server');
    for (let turn = 0; turn < 20; turn += 1) {
      server.react = keepSilent;
      for (let each = 0; each < 8; each += 1) void ask(`n${each}.t${turn}.example.`);
      clock.advance(5_000);
      server.react = answerAfter(5);
      clock.advance(5_000);
    }
    const levels = log.records.map(({ level }) => level);
    expect(levels.length).toBeGreaterThanOrEqual(4);
    expect(levels.length).toBeLessThanOrEqual(8);
  });

  it('of a server that sends our queries back, and everything else goes on', async () => {
    const { log, servers, forwarder, goesTo, clock } = start([
      rule([domain('.')], '192.0.2.1'),
      rule([domain('example.com')], '192.0.2.2'),
    ]);
    const questions: Question[] = [];
    const sendBack: React = ({ query, after }) => after(1, () => questions.push(getQuestion(query)));
    for (const server of servers.values()) server.react = sendBack;
    forwarder.testForLoops();
    clock.advance(1);
    const [root, inDomain] = questions;
    if (root === undefined || inDomain === undefined) throw new Error('two probes were expected');
    // Each asks in a domain that its server is asked for, so that it takes the way of real questions.
    expect(inDomain.name).toMatch(/^[0-9a-f]{32}\.example\.com\.$/);
    expect(forwarder.isOwnProbe({ ...inDomain, type: TYPE.A })).toBe(false);
    expect(forwarder.isOwnProbe({ ...inDomain, name: parseName(`${'0'.repeat(32)}.example.com.`) })).toBe(
      false,
    );
    expect(forwarder.isOwnProbe({ ...inDomain, name: parseName(inDomain.name.toUpperCase()) })).toBe(true);
    expect(log.records).toMatchObject([{ level: 'error', fields: { upstream: '192.0.2.2:53' } }]);
    for (const server of servers.values()) server.react = answerAfter(5);
    expect(await goesTo('www.example.com.')).toBe('loop');
    expect(await goesTo('www.example.org.')).toBe('192.0.2.1:53');
    expect(forwarder.statistics().upstreams.map(({ loops }) => loops)).toEqual([0, 1]);
  });

  it('of a long list of servers by tests of a few at a time, so that they do not take all sockets', () => {
    const addresses = Array.from({ length: 100 }, (_, index) => `192.0.2.${index + 1}`);
    const { servers, forwarder, clock } = start([rule([domain('.')], ...addresses)]);
    const tested = () => [...servers.values()].filter(({ probes }) => probes === 1).length;
    forwarder.testForLoops();
    expect(tested()).toBe(32);
    clock.advance(5_000);
    expect(tested()).toBe(64);
    clock.advance(10_000);
    expect(tested()).toBe(100);
  });
});

describe('the end', () => {
  it('leaves no timer behind', async () => {
    const { clock, servers, forwarder, ask } = start([rule([domain('.')], '192.0.2.1', 'ns.example')], {
      limits: { inFlight: 2, perClient: 2, queued: 9, queueDeadline: 1000 },
    });
    forwarder.testForLoops();
    for (const server of servers.values()) server.react = keepSilent;
    const replies = ['a.', 'b.', 'c.', 'd.'].map(ask);
    await settled();
    forwarder.stop();
    await settled();
    expect((await Promise.all(replies)).map((reply) => reply.kind === 'failed' && reply.reason)).toEqual(
      Array.from({ length: 4 }, () => 'stopped'),
    );
    clock.advance(1);
    expect([...servers.values()].every(({ isClosed }) => isClosed)).toBe(true);
    clock.advance(5000);
    expect(clock.pending).toBe(0);
  });
});
