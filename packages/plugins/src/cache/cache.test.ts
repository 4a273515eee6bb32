import { parseName, ROOT, toKey } from '@portolan/dns/name.ts';
import { OPCODE, RCODE, type ResourceRecord } from '@portolan/dns/types.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { Answer, WholeAnswer } from '@portolan/kernel/chain/answer.ts';
import { Query } from '@portolan/kernel/chain/query.ts';
import { CLIENT, makeQuery, record, SOA } from '@portolan/kernel/chain/testing/queries.ts';
import { NOTHING_RESTORED, type RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import { toCachedQuestion } from '@portolan/kernel/forward/question-key.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { describe, expect, it } from 'vitest';
import { Cache } from './cache.ts';
import type { CacheServeStale, CoreDnsCacheRules } from './options.ts';

const OPTIONS: CoreDnsCacheRules = {
  kind: 'coredns',
  zones: [ROOT],
  success: { capacity: 9984, maxTtl: 3600, minTtl: 5 },
  denial: { capacity: 9984, maxTtl: 1800, minTtl: 5 },
  prefetch: undefined,
  serveStale: undefined,
  servfailTtl: 5000,
  uncachedSuccess: [],
  uncachedDenial: [],
  keepTtl: false,
};

const STALE: CacheServeStale = {
  duration: 3_600_000,
  refresh: 'immediate',
  verifyTimeout: undefined,
  ttl: 0,
  recheck: 0,
  prefersPositive: false,
};

function whole(answers: readonly ResourceRecord[], parts: Partial<WholeAnswer> = {}): WholeAnswer {
  return {
    kind: 'message',
    rcode: 0,
    authoritative: false,
    truncated: false,
    recursionAvailable: true,
    authenticData: false,
    answers,
    authorities: [],
    additionals: [],
    ...parts,
  };
}

const a = (name: string, ttl: number) => record(name, { kind: 'A', address: '192.0.2.1' }, ttl);

function makeCache(options: Partial<CoreDnsCacheRules> = {}, restored = NOTHING_RESTORED) {
  const clock = new ManualClock();
  const table = new TableWriter({ readers: 1, reservation: 64 * 2 ** 20, seed: 4711 });
  const metrics = new MetricRegistry();
  const cache = new Cache(
    { ...OPTIONS, ...options },
    { clock, table, metrics, restored, rotates: () => false },
  );
  /** The counts of a family, without its labels of the block. */
  const counted = async (family: string) =>
    [
      ...(await metrics.render()).matchAll(
        new RegExp(`^coredns_cache_${family}\\{(?:.*type="(\\w+)")?.*\\} (\\d+)$`, 'gm'),
      ),
    ].map(([, type = '', count]) => `${type} ${count}`.trim());
  let asked = 0;
  let says: Answer = whole([a('www.example.', 60)]);
  let forbids = false;
  const ask = async (name: string, type = 'A', query = makeQuery(name, type)) => {
    const answer = await cache.handler.handle(query, (behind) => {
      asked += 1;
      if (forbids) behind.forbidCaching();
      return says;
    });
    return answer.kind === 'message' ? answer : undefined;
  };
  /** Whether readers find an answer. */
  const isRead = (name: string) => {
    const { handler } = cache;
    const view = handler.role === 'cache' ? handler.view : undefined;
    return table.readCached(toCachedQuestion(makeQuery(name, 'A').questionKey), view) !== undefined;
  };
  return {
    clock,
    counted,
    ask,
    isRead,
    asked: () => asked,
    says: (answer: Answer) => {
      says = answer;
    },
    forbidCaching: () => {
      forbids = true;
    },
  };
}

const ttls = (answer: WholeAnswer | undefined) =>
  [...(answer?.answers ?? []), ...(answer?.authorities ?? [])].map(({ ttl }) => ttl);

it('keeps an answer, counts its TTL down, and marks it as authoritative', async () => {
  const { ask, asked, clock, counted } = makeCache();
  expect(await ask('www.example.')).toMatchObject({ authoritative: false });
  clock.advance(20_000);
  const again = await ask('WWW.example.');
  expect(again).toMatchObject({ authoritative: true, recursionAvailable: true });
  expect(ttls(again)).toEqual([40]);
  expect(again?.answers.map(({ name }) => name)).toEqual(['WWW.example.']);
  expect(asked()).toBe(1);
  clock.advance(40_000);
  await ask('www.example.');
  expect(asked()).toBe(2);
  expect(await counted('requests_total')).toEqual(['3']);
  expect(await counted('misses_total')).toEqual(['2']);
  expect(await counted('hits_total')).toEqual(['success 1']);
});

it('gives all records the least TTL, within its bounds, the first time too', async () => {
  const { ask, says } = makeCache({ success: { capacity: 1, maxTtl: 30, minTtl: 5 } });
  says(whole([a('www.example.', 86_400)], { authorities: [SOA] }));
  expect(ttls(await ask('www.example.'))).toEqual([30, 30]);
  says(whole([a('zero.example.', 0)]));
  expect(ttls(await ask('zero.example.'))).toEqual([5]);
});

describe('a denial is kept for the lesser of TTL and minimum of its SOA record (RFC 2308 section 5)', () => {
  const denial = (ttl: number, minimum: number, rcode: number = RCODE.NXDOMAIN) => {
    const data = SOA.data.kind === 'SOA' ? { ...SOA.data, minimum } : SOA.data;
    return whole([], { rcode, authorities: [{ ...SOA, ttl, data }] });
  };
  const bounds = { capacity: 1, maxTtl: 30, minTtl: 5 };
  const given = { ...bounds, isMinTtlGiven: true };
  const ofCoreDns: RestoredDeviations = new Set(['negative-ttl']);

  it.each([
    ['its minimum', 3600, 2, bounds, NOTHING_RESTORED, 2],
    ['its TTL', 2, 3600, bounds, NOTHING_RESTORED, 2],
    ['the maximum of the cache', 3600, 900, bounds, NOTHING_RESTORED, 30],
    ['a minimum of the cache that is configured', 3600, 2, given, NOTHING_RESTORED, 5],
    ['its TTL as in CoreDNS', 3600, 2, bounds, ofCoreDns, 30],
    ['the minimum of the cache as in CoreDNS', 2, 3600, bounds, ofCoreDns, 5],
  ])('%s', async (_, ttl, minimum, limits, restored, seconds) => {
    for (const rcode of [RCODE.NXDOMAIN, RCODE.NOERROR]) {
      const { ask, asked, says, clock } = makeCache({ denial: limits }, restored);
      says(denial(ttl, minimum, rcode));
      expect(ttls(await ask('www.example.'))).toEqual([seconds]);
      clock.advance(seconds * 1000 - 1);
      await ask('www.example.');
      expect(asked()).toBe(1);
      clock.advance(1);
      await ask('www.example.');
      expect(asked()).toBe(2);
    }
  });

  it('not at all if that is 0', async () => {
    const { ask, asked, says } = makeCache({ denial: bounds });
    says(denial(60, 0));
    expect(ttls(await ask('www.example.'))).toEqual([0]);
    await ask('www.example.');
    expect(asked()).toBe(2);
  });
});

it.each([
  ['a denial with SOA', whole([], { rcode: RCODE.NXDOMAIN, authorities: [SOA] }), 1],
  ['NXDOMAIN without SOA', whole([], { rcode: RCODE.NXDOMAIN }), 2],
  [
    'NXDOMAIN behind an alias',
    whole([a('www.example.', 60)], { rcode: RCODE.NXDOMAIN, authorities: [SOA] }),
    2,
  ],
  ['an empty answer without SOA', whole([]), 1],
  ['half a chain of aliases', whole([record('www.example.', { kind: 'CNAME', target: parseName('x.') })]), 2],
  ['SERVFAIL of a server', whole([], { rcode: RCODE.SERVFAIL }), 1],
  ['REFUSED', whole([], { rcode: RCODE.REFUSED }), 2],
  ['a truncated answer', whole([a('www.example.', 60)], { truncated: true }), 2],
  ['a failure of this server', { kind: 'servfail' } as const, 2],
])('keeps or leaves %s', async (_, answer: Answer, asks) => {
  const { ask, asked, says } = makeCache();
  says(answer);
  await ask('www.example.');
  await ask('www.example.');
  expect(asked()).toBe(asks);
});

it('keeps nothing of the zones that are disabled', async () => {
  const { ask, asked } = makeCache({ uncachedSuccess: [toKey(parseName('example.'))] });
  await ask('www.example.');
  await ask('www.example.');
  expect(asked()).toBe(2);
});

it.each([undefined, STALE])(
  'forgets an answer for one of the other kind that comes later, with %j',
  async (serveStale) => {
    const { ask, says, clock } = makeCache({ serveStale });
    const [positive, denial] = [
      whole([a('www.example.', 60)]),
      whole([], { rcode: RCODE.NXDOMAIN, authorities: [{ ...SOA, ttl: 60 }] }),
    ];
    const rcodes = async () => [
      await ask('www.example.'),
      await ask('www.example.'),
      await ask('www.example.'),
    ];
    await rcodes();
    clock.advance(7_200_000);
    says(denial);
    expect((await rcodes()).map((answer) => answer?.rcode)).toEqual([3, 3, 3]);
    clock.advance(7_200_000);
    says(positive);
    expect((await rcodes()).map((answer) => answer?.answers.length)).toEqual([1, 1, 1]);
  },
);

it('gives a stale answer at once, and fetches a fresh one behind it', async () => {
  const { ask, says, clock } = makeCache({ serveStale: STALE });
  await ask('www.example.');
  clock.advance(61_000);
  says(whole([a('www.example.', 300)]));
  expect(ttls(await ask('www.example.'))).toEqual([0]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(ttls(await ask('www.example.'))).toEqual([300]);
});

it.each(['immediate', 'verify'] as const)(
  'gives no stale answer once a handler behind it has forbidden to cache the next one: %s',
  async (refresh) => {
    const { ask, says, clock, forbidCaching } = makeCache({ serveStale: { ...STALE, refresh } });
    await ask('www.example.');
    clock.advance(61_000);
    says(whole([a('www.example.', 300)]));
    forbidCaching();
    await ask('www.example.');
    await new Promise((resolve) => setImmediate(resolve));
    says({ kind: 'servfail', reason: 'no healthy proxies' });
    expect(await ask('www.example.')).toBeUndefined();
  },
);

it('verifies before it gives a stale answer, where it is told to', async () => {
  const { ask, says, clock } = makeCache({ serveStale: { ...STALE, refresh: 'verify' } });
  await ask('www.example.');
  clock.advance(61_000);
  says({ kind: 'servfail', reason: 'no healthy proxies' });
  expect(ttls(await ask('www.example.'))).toEqual([0]);
  says(whole([a('www.example.', 300)]));
  expect(ttls(await ask('www.example.'))).toEqual([300]);
});

it('fetches popular names before they expire', async () => {
  const { ask, asked, clock } = makeCache({ prefetch: { amount: 2, duration: 60_000, percentage: 50 } });
  for (let turn = 0; turn < 3; turn += 1) await ask('www.example.');
  expect(asked()).toBe(1);
  clock.advance(31_000);
  await ask('www.example.');
  expect(asked()).toBe(2);
});

it('keeps to its capacity, and counts what it lets go', async () => {
  const { ask, says, counted, isRead } = makeCache({ success: { capacity: 1, maxTtl: 3600, minTtl: 5 } });
  for (let number = 0; number < 1030; number += 1) {
    says(whole([a(`n${number}.example.`, 60)]));
    await ask(`n${number}.example.`);
  }
  expect(await counted('entries')).toEqual(['success 1024', 'denial 0']);
  expect(await counted('evictions_total')).toEqual(['success 6']);
  expect(['n5', 'n6'].map((label) => isRead(`${label}.example.`))).toEqual([false, true]);
});

it('gives NOTIFY what it has, and keeps nothing of its answers', async () => {
  const { ask, asked, isRead } = makeCache();
  const { question, header } = makeQuery('www.example.');
  const notify = { question, header: { ...header, opcode: OPCODE.NOTIFY }, edns: undefined };
  const send = () => ask('www.example.', 'A', new Query(question, notify, CLIENT));
  expect(ttls(await send())).toEqual([5]);
  expect(isRead('www.example.')).toBe(false);
  await ask('www.example.');
  expect(asked()).toBe(2);
  expect(ttls(await send())).toEqual([60]);
  expect(asked()).toBe(2);
});
