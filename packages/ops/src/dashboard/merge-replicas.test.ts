import { describe, expect, it } from 'vitest';
import type { ServerStatus } from '../control/status.ts';
import { eachDimension, type TopRow } from '../control/top-counts.ts';
import type { TopSnapshot } from '../control/watch-verbs.ts';
import {
  groupFailures,
  judgeHealth,
  mergeFindings,
  mergeSeries,
  mergeTraffic,
  toPoint,
} from './merge-replicas.ts';

const row = (what: string, count: number): TopRow => ({ what, count });

function makeSnapshot(fields: Partial<TopSnapshot>): TopSnapshot {
  return {
    seconds: 2,
    queries: 0,
    lost: 0,
    searched: 0,
    rcodes: [],
    sources: [],
    names: [],
    clients: [],
    namespaces: [],
    failures: [],
    upstreams: [],
    isPast: false,
    sampling: 1,
    searches: [],
    unlisted: eachDimension(() => 0),
    ...fields,
  };
}

const makeSample = (replica: string, fields: Partial<TopSnapshot>, at = 10_000) => ({
  replica,
  at,
  snapshot: makeSnapshot(fields),
});

// Only what is read.
const makeStatus = (ready: boolean) => ({ ready }) as ServerStatus;
const makeReplica = (name: string, ready: boolean) => ({
  name,
  status: makeStatus(ready),
  error: undefined,
  rate: undefined,
});
const quiet = mergeTraffic([]);

describe('merged traffic', () => {
  it('adds rows and weighs shares by queries', () => {
    const traffic = mergeTraffic([
      makeSample('a', { queries: 30, searched: 0.5, clients: [row('10.0.0.1', 20), row('10.0.0.2', 10)] }),
      makeSample('b', { queries: 10, searched: 0.1, clients: [row('10.0.0.2', 15)], lost: 3 }),
    ]);
    expect(traffic).toMatchObject({ seconds: 2, queries: 40, lost: 3, searched: 0.4 });
    expect(traffic.clients).toEqual([row('10.0.0.2', 25), row('10.0.0.1', 20)]);
  });

  it('keeps the most frequent rows', () => {
    const names = Array.from({ length: 80 }, (_, index) => row(`n${index}. A`, index + 1));
    const merged = mergeTraffic([makeSample('a', { names })]).names;
    expect([merged.length, merged[0], merged.at(-1)]).toEqual([50, row('n79. A', 80), row('n30. A', 31)]);
  });

  it('widens the bounds of a row by what other replicas may have left out', () => {
    const none = eachDimension(() => 0);
    const { names } = mergeTraffic([
      makeSample('a', { names: [row('x. A', 20), row('y. A', 9)], unlisted: { ...none, names: 4 } }),
      makeSample('b', { names: [row('x. A', 5)], unlisted: { ...none, names: 5 } }),
    ]);
    expect(names).toEqual([row('x. A', 25), { what: 'y. A', count: 14, error: 5 }]);
  });

  it('counts a replica once in each step of the series', () => {
    const rcodes = [row('NOERROR', 4), row('NXDOMAIN', 2), row('SERVFAIL', 2)];
    const points = [
      toPoint(makeSample('a', { queries: 8, rcodes }, 4_100)),
      toPoint(makeSample('b', { queries: 8, rcodes }, 5_900)),
      toPoint(makeSample('a', { queries: 2, rcodes: [row('NOERROR', 2)] }, 6_100)),
    ];
    expect(mergeSeries(points, 2_000)).toEqual({
      times: [4, 6],
      queries: [8, 1],
      missing: [2, 0],
      failed: [2, 0],
    });
  });
});

it('groups failures by their cause, the most frequent first', () => {
  const groups = groupFailures([
    makeSample('a', { failures: [row('no-such-service catr.shop. A', 3), row('SERVFAIL x. A', 4)] }),
    makeSample('b', { failures: [row('no-such-service catr.shop. A', 2)] }),
  ]);
  expect(groups).toEqual([
    { cause: 'no-such-service', count: 5, names: [{ name: 'catr.shop.', type: 'A', count: 5 }] },
    { cause: 'SERVFAIL', count: 4, names: [{ name: 'x.', type: 'A', count: 4 }] },
  ]);
});

it('shows a finding of several replicas once, problems first', () => {
  const finding = (kind: 'upstream-slow' | 'data-stale', severity: 'risk' | 'problem') => ({
    kind,
    severity,
    subject: 's',
    sentence: kind,
    remedies: [],
  });
  const diagnosis = { checked: [], notChecked: [] };
  const merged = mergeFindings([
    { replica: 'a', diagnosis: { ...diagnosis, findings: [finding('upstream-slow', 'risk')] } },
    {
      replica: 'b',
      diagnosis: {
        ...diagnosis,
        findings: [finding('upstream-slow', 'risk'), finding('data-stale', 'problem')],
      },
    },
  ]);
  expect(merged.map(({ kind, replicas }) => [kind, replicas])).toEqual([
    ['data-stale', ['b']],
    ['upstream-slow', ['a', 'b']],
  ]);
});

describe('health', () => {
  const failing = (share: number) =>
    mergeTraffic([
      makeSample('a', {
        queries: 1_000,
        rcodes: [row('SERVFAIL', share * 1_000), row('NXDOMAIN', 500), row('REFUSED', 400)],
      }),
    ]);
  it.each([
    ['unknown', [], quiet],
    ['unknown', [{ ...makeReplica('a', true), status: undefined }], quiet],
    ['broken', [makeReplica('a', false)], quiet],
    ['degraded', [makeReplica('a', true), makeReplica('b', false)], quiet],
    ['healthy', [makeReplica('a', true)], quiet],
    ['healthy', [makeReplica('a', true)], failing(0.001)],
    ['degraded', [makeReplica('a', true)], failing(0.01)],
    ['broken', [makeReplica('a', true)], failing(0.3)],
  ] as const)('is %s', (word, replicas, traffic) => {
    expect(judgeHealth(replicas, [], traffic).word).toBe(word);
  });
});
