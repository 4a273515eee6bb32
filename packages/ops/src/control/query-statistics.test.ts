import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { QueryEventRings } from '@portolan/kernel/listen/query-events/event-rings.ts';
import { EventTap } from '@portolan/kernel/listen/query-events/event-tap.ts';
import type { AnsweredStep } from '@portolan/server/reasons/conclude.ts';
import { describe, expect, it } from 'vitest';
import { explainFailures } from './failure-reasons.ts';
import { QueryStatistics } from './query-statistics.ts';
import { StatisticsKeeper } from './statistics-keeper.ts';

const MINUTE = 60_000;

/** A question for A, with the header of a query or a response. */
function makeMessage(name: string, flags: readonly [number, number], answers: number): Uint8Array {
  const labels = name.split('.').flatMap((label) => [label.length, ...Buffer.from(label)]);
  return Uint8Array.from([0, 1, ...flags, 0, 1, 0, answers, 0, 0, 0, 0, ...labels, 0, 0, 1, 0, 1]);
}

function makeKept(isNamespace = (label: string) => label !== 'com') {
  const rings = new QueryEventRings(0);
  const clock = new ManualClock();
  const tap = new EventTap(() => [rings], clock);
  const kept = new QueryStatistics({
    tap,
    domain: 'cluster.local.',
    findNamespaceTest: () => isNamespace,
    clock,
  });
  const answer = (name: string, rcode: number, { answers = 0, isOwn = true } = {}) => {
    const query = makeMessage(name, [1, 0], 0);
    const response = makeMessage(name, [isOwn ? 0x85 : 0x81, 0x80 | rcode], answers);
    const about = { received: 1, source: 'table', transport: 'udp' } as const;
    rings.main.add(query, response, { address: '10.244.1.7', port: 5353 }, about);
    clock.advance(50);
  };
  return { kept, clock, answer, rings };
}

describe('kept statistics', () => {
  it('count names, clients, namespaces, sources and failures', () => {
    const { kept, answer } = makeKept();
    answer('cart.shop.svc.cluster.local', 0, { answers: 1 });
    answer('Cart.shop.svc.cluster.local', 0, { answers: 1 });
    answer('catr.shop.svc.cluster.local', 3);
    answer('www.example.com.web.svc.cluster.local', 3);
    // The second domain of a search list: `com` is no namespace.
    answer('www.example.com.svc.cluster.local', 3);
    answer('www.example.com', 0, { answers: 1, isOwn: false });
    answer('v4.example.com', 0, { isOwn: false });
    answer('refused.example', 5, { isOwn: false });
    const { summaries, queries, searched, sampling, searches } = kept.read(10);
    expect({ queries, searched, sampling, searches: [...searches] }).toEqual({
      queries: 8,
      searched: 1 / 8,
      sampling: 1,
      searches: [
        ['com', 1],
        ['web', 1],
      ],
    });
    const tables = Object.entries(summaries).map(([table, { rows, unlisted }]) => [
      table,
      Object.fromEntries(rows.map(({ what, count }) => [what, count])),
      unlisted,
    ]);
    expect(tables).toEqual([
      ['rcodes', { NOERROR: 4, NXDOMAIN: 3, REFUSED: 1 }, 0],
      ['sources', { cluster: 5, cache: 2, block: 1 }, 0],
      [
        'names',
        {
          'cart.shop.svc.cluster.local. A': 2,
          'catr.shop.svc.cluster.local. A': 1,
          'refused.example. A': 1,
          'v4.example.com. A': 1,
          'www.example.com. A': 1,
          'www.example.com.svc.cluster.local. A': 1,
          'www.example.com.web.svc.cluster.local. A': 1,
        },
        0,
      ],
      ['clients', { '10.244.1.7': 8 }, 0],
      ['namespaces', { shop: 3, web: 1 }, 0],
      [
        'failures',
        {
          'NODATA v4.example.com. A': 1,
          'NXDOMAIN catr.shop.svc.cluster.local. A': 1,
          'NXDOMAIN www.example.com.svc.cluster.local. A': 1,
          'NXDOMAIN www.example.com.web.svc.cluster.local. A': 1,
          'REFUSED refused.example. A': 1,
        },
        0,
      ],
    ]);
  });

  it('count the names of a namespace since it is one', () => {
    const namespaces = new Set<string>();
    const { kept, answer } = makeKept((label) => namespaces.has(label));
    answer('cart.shop.svc.cluster.local', 3);
    namespaces.add('shop');
    answer('cart.shop.svc.cluster.local', 3);
    expect(kept.read(10).summaries.namespaces.rows).toEqual([{ what: 'shop', count: 1 }]);
  });

  it('show the last 8 to 10 minutes', () => {
    const { kept, clock, answer } = makeKept();
    answer('first.example', 3);
    clock.advance(5 * MINUTE);
    answer('second.example', 3);
    clock.advance(2 * MINUTE);
    expect([kept.read(10).queries, Math.round(kept.read(10).seconds)]).toEqual([2, 420]);
    clock.advance(3 * MINUTE);
    expect(kept.read(10)).toMatchObject({ queries: 1, summaries: { rcodes: { rows: [{ count: 1 }] } } });
    clock.advance(10 * MINUTE);
    expect([kept.read(10).queries, kept.read(10).seconds >= 8 * 60]).toEqual([0, true]);
  });

  it('find the reasons of failures when somebody asks', async () => {
    const { kept, answer } = makeKept();
    answer('catr.shop.svc.cluster.local', 3);
    answer('catr.shop.svc.cluster.local', 3);
    answer('well.shop.svc.cluster.local', 3);
    const asked: unknown[] = [];
    const step: AnsweredStep = {
      name: '',
      type: 'A',
      rcode: 'NXDOMAIN',
      outcome: 'nxdomain',
      source: 'cluster',
      zone: undefined,
      plugin: undefined,
      records: [],
      addresses: [],
      reason: { kind: 'no-such-service', namespace: 'shop', service: 'catr', near: [] },
    };
    const { summaries } = await explainFailures(kept.read(10), {
      lookUp(name, type, _, seen) {
        asked.push([name, type, seen?.outcome]);
        if (name.startsWith('well')) return Promise.reject(new Error('not a name'));
        return Promise.resolve(step);
      },
    });
    expect(asked[0]).toEqual(['catr.shop.svc.cluster.local.', 'A', 'nxdomain']);
    expect(summaries.failures.rows).toEqual([
      { what: 'no-such-service catr.shop.svc.cluster.local. A', count: 2 },
      { what: 'NXDOMAIN well.shop.svc.cluster.local. A', count: 1 },
    ]);
  });
});

it('begins and ends to count with the plan, also when that changes before it has begun', async () => {
  const { kept, rings } = makeKept();
  let begun = 0;
  const keeper = new StatisticsKeeper(() => {
    begun += 1;
    return Promise.resolve(kept);
  }, silentLog);
  keeper.keep(true);
  keeper.keep(true);
  keeper.keep(false);
  await Promise.resolve();
  await Promise.resolve();
  expect([begun, keeper.current, rings.main.isOn]).toEqual([1, undefined, false]);
  keeper.keep(true);
  await Promise.resolve();
  await Promise.resolve();
  expect([begun, keeper.current]).toEqual([2, kept]);
});
