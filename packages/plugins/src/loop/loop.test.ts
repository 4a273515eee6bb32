import { parseName, ROOT, toKey } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Chain, Handler } from '@portolan/kernel/chain/handler.ts';
import { namesWithin } from '@portolan/kernel/chain/match.ts';
import { makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { describe, expect, it } from 'vitest';
import { Loop } from './loop.ts';

interface Scene {
  /** What is behind the handler; it may ask the whole chain again. */
  readonly behind: (whole: Chain) => Chain;
  readonly endsProcess?: boolean;
  readonly former?: Loop;
  readonly handlers?: readonly Handler[];
}

function start({ behind, endsProcess = false, former, handlers = [] }: Scene) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const ends: string[] = [];
  let tests = 0;
  let changes = 0;
  const whole: Chain = (query) => loop.handler.handle(query, behind(whole));
  const chain: Chain = (query) => {
    tests += 1;
    return whole(query);
  };
  const loop: Loop = new Loop(
    { zone: ROOT },
    {
      clock,
      log,
      chain,
      server: 'dns://:53',
      handlers: () => [loop.handler, ...handlers],
      changed: () => {
        changes += 1;
        return true;
      },
      endProcess: endsProcess ? (message) => void ends.push(message) : undefined,
    },
    former,
  );
  loop.serving();
  const pass = async (milliseconds: number) => {
    clock.advance(milliseconds);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const ask = (name: string, type = 'A') => whole(makeQuery(name, type));
  return { loop, log, ends, pass, ask, tests: () => tests, changes: () => changes };
}

const formatLines = ({ records }: RecordingLog) => records.map(({ level, message }) => `${level} ${message}`);
const REFUSED: Answer = { kind: 'refused' };
const RECORDS: Answer = { kind: 'records', records: [], additionals: [], authoritative: false };
const FOUND =
  /^plugin\/loop: Loop \(127\.0\.0\.1:\d+ -> :53\) detected for zone "\.", see https:\S+ Query: "HINFO \d+\.\d+\."$/;

/** A server that sends tests back while `isOn`, and answers everything else. */
function loopingServer() {
  const state = { isOn: true, turns: 0 };
  const behind =
    (whole: Chain): Chain =>
    (query) => {
      if (query.question.name.endsWith('example.') || !state.isOn) return RECORDS;
      state.turns += 1;
      return whole(query);
    };
  return { state, behind };
}

describe('a query that comes back', () => {
  it('ends the process where CoreDNS is copied exactly', async () => {
    const { ends, loop, pass } = start({ ...loopingServer(), endsProcess: true });
    await pass(0);
    expect(ends).toEqual([expect.stringMatching(FOUND)]);
    expect(loop.isReady()).toBe(true);
  });

  it('is reported once; what would loop is SERVFAIL, and the block is not ready', async () => {
    const { log, loop, pass, ask, ends, changes } = start(loopingServer());
    await pass(0);
    expect(formatLines(log)).toEqual([expect.stringMatching(/^error plugin\/loop: Loop /)]);
    expect([loop.isReady(), changes(), ends]).toEqual([false, 1, []]);
    expect(await ask('www.example.')).toEqual({ kind: 'servfail', reason: 'plugin/loop: Loop detected' });
    expect([...loop.handler.questions.matches()]).toEqual([{ name: { kind: 'any' }, types: 'all' }]);
  });

  it('goes round three times at most', async () => {
    const server = loopingServer();
    const { pass } = start(server);
    await pass(0);
    expect(server.state.turns).toBe(2);
  });

  it('is tested every five seconds, by another name, until it does not come back', async () => {
    const server = loopingServer();
    const { log, loop, pass, ask, tests, changes } = start(server);
    for (let second = 0; second < 21; second += 1) await pass(1000);
    expect([tests(), loop.isReady(), changes()]).toEqual([5, false, 1]);
    server.state.isOn = false;
    for (let second = 0; second < 8; second += 1) await pass(1000);
    expect([loop.isReady(), changes()]).toEqual([true, 2]);
    expect(formatLines(log)).toEqual([
      expect.stringMatching(/^error /),
      'info plugin/loop: Loop for zone "." is gone',
    ]);
    expect(await ask('www.example.')).toBe(RECORDS);
    for (let second = 0; second < 60; second += 1) await pass(1000);
    expect(tests()).toBe(6);
  });

  it('is still known to the plugin of the next plan', async () => {
    const { loop, pass } = start(loopingServer());
    await pass(0);
    const next = start({ ...loopingServer(), former: loop });
    expect(next.loop.isReady()).toBe(false);
    await next.pass(0);
    expect(formatLines(next.log)).toEqual([]);
  });

  it('concerns only names that go to the same servers', async () => {
    const here = toKey(parseName('here.example.'));
    const rules = [{}, {}];
    const forwarder: Handler = {
      name: 'forward',
      role: 'forwarder',
      answers: 'unchanged',
      questions: namesWithin(new Set([ROOT])),
      ruleFor: (name: NameKey) => rules[name === here ? 0 : 1],
      handle: () => RECORDS,
    };
    const { pass, ask } = start({ ...loopingServer(), handlers: [forwarder] });
    await pass(0);
    expect([await ask('here.example.'), await ask('there.example.')]).toEqual([
      RECORDS,
      { kind: 'servfail', reason: 'plugin/loop: Loop detected' },
    ]);
  });
});

it('logs nothing where the query is answered, and tests again while it fails', async () => {
  const { log, pass, tests } = start({ behind: () => () => REFUSED });
  await pass(30_000);
  expect([formatLines(log), tests()]).toEqual([[], 1]);
  const failing = start({ behind: () => () => ({ kind: 'servfail' }) });
  for (let second = 0; second < 40; second += 1) await failing.pass(1000);
  expect(formatLines(failing.log)).toEqual([]);
  expect(failing.tests()).toBe(30);
});

it('takes no notice of a test that a server asks back later', async () => {
  const names: string[] = [];
  const { loop, pass, ask } = start({
    behind: () => (query) => {
      names.push(query.question.name);
      return REFUSED;
    },
  });
  await pass(0);
  await pass(2000);
  for (let turn = 0; turn < 5; turn += 1) await ask(names[0] ?? '', 'HINFO');
  expect(loop.isReady()).toBe(true);
});

it('asks as if the listeners had received the query', async () => {
  const sites: unknown[] = [];
  const { pass } = start({
    behind: () => (query) => {
      sites.push(query.site);
      return REFUSED;
    },
  });
  await pass(0);
  expect(sites).toEqual([{ server: 'dns://:53', zone: '.', view: '', octets: expect.any(Number) }]);
});
