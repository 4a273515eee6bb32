import { describe, expect, it } from 'vitest';
import type { ServerStatus } from '../control/status.ts';
import { changesBetween, compareReplicas, computeMedian } from './compare-replicas.ts';

const upstream = (server: string, state: string) => ({
  server,
  state,
  since: undefined,
  lastReply: undefined,
  roundTrip: 1.25,
  sent: 0,
  timeouts: 0,
  errors: 0,
});

const status: ServerStatus = {
  version: '0.2.0',
  role: 'serve',
  addresses: ['127.0.0.1:53'],
  process: 1,
  ready: true,
  reason: undefined,
  queries: 0,
  data: { age: 100, kinds: [] },
  configuration: { isLastGood: false, rejected: [], changes: 0, changedAt: undefined },
  upstreams: [upstream('10.0.0.2:53', 'well')],
  cache: { entries: 100, names: 20 },
  readers: { running: 1, down: 0, kernelDrops: 0 },
  zones: [],
  statistics: { isKept: false, sampling: undefined },
  logs: { level: 'info', queryLog: undefined, lost: undefined },
};

function listNotes(statuses: readonly (ServerStatus | undefined)[]) {
  const replicas = statuses.map((each, index) => ({
    name: `r${index}`,
    status: each,
    error: undefined,
    rate: 10,
  }));
  return compareReplicas(replicas).flatMap(({ name, cells }) =>
    cells.flatMap(({ column, note }) => (note === undefined ? [] : [[name, column, note]])),
  );
}

describe('replicas compared', () => {
  it('marks nothing where all are alike, or one cannot be asked', () => {
    expect(listNotes([status, status, status])).toEqual([]);
    expect(listNotes([status, undefined, status])).toEqual([]);
  });

  it('marks another version than most have', () => {
    expect(listNotes([status, { ...status, version: '0.1.0' }, status])).toEqual([
      ['r1', 'version', 'others: 0.2.0'],
    ]);
  });

  it('marks both of two that differ', () => {
    expect(listNotes([status, { ...status, version: '0.1.0' }]).map(([name]) => name)).toEqual(['r0', 'r1']);
  });

  it('marks other objects and fewer readers than the others have', () => {
    const services = (objects: number) => ({
      age: 100,
      kinds: [{ kind: 'services', state: 'watching', age: 100, objects, lists: 1, words: undefined }],
    });
    const all = { ...status, data: services(12) };
    const readers = { running: 0, down: 1, kernelDrops: 0 };
    expect(listNotes([all, { ...all, data: services(11), readers }, all])).toEqual([
      ['r1', 'objects', 'others: 12 services'],
      ['r1', 'readers', 'others: 1 running'],
    ]);
  });

  it('marks a number far from the median, and no small difference', () => {
    const old = { ...status, data: { ...status.data, age: 60_000 } };
    const near = { ...status, data: { ...status.data, age: 101 } };
    expect(listNotes([status, near, old, status])).toEqual([
      ['r2', 'data age', 'median 101, 597.0 times that'],
    ]);
  });
});

it('has the median of odd and even counts', () => {
  expect([
    computeMedian([3, 1, 2]),
    computeMedian([4, 1, 2, 3]),
    computeMedian([7]),
    computeMedian([]),
  ]).toEqual([2, 2.5, 7, 0]);
});

describe('changes', () => {
  const sentences = (after: Partial<ServerStatus>, before: ServerStatus | undefined = status) =>
    changesBetween('a', before, { ...status, ...after }, 'now').map(({ kind, sentence }) => [kind, sentence]);

  it('are empty at first, and where nothing changed', () => {
    expect(changesBetween('a', undefined, status, 'now')).toEqual([]);
    expect(sentences({})).toEqual([]);
  });

  it('name what became different', () => {
    const configuration = { ...status.configuration, changes: 1, rejected: ['line 3: no'] };
    expect(
      sentences({
        ready: false,
        reason: 'not listed',
        configuration,
        upstreams: [upstream('10.0.0.2:53', 'down')],
        process: 2,
      }),
    ).toEqual([
      ['version', 'restarted, version 0.2.0'],
      ['ready', 'is not ready: not listed'],
      ['configuration', 'took a new configuration in'],
      ['configuration', 'refused a configuration: line 3: no'],
      ['upstream', '10.0.0.2:53 is down, was well'],
    ]);
  });

  it('name servers that appeared or disappeared', () => {
    expect(sentences({ upstreams: [upstream('10.0.0.3:53', 'well')] })).toEqual([
      ['upstream', '10.0.0.3:53 is well'],
      ['upstream', '10.0.0.2:53 is no longer asked'],
    ]);
  });
});
