import {
  FAILING_CALLS,
  makeReaderCounters,
  readReaderCounters,
} from '@portolan/kernel/listen/reader-counters.ts';
import { describe, expect, it } from 'vitest';
import type { SourceStatus } from './object-source.ts';
import { judgeReadiness, judgeWithEtcd } from './readiness.ts';
import { moveServer, ServerStateError } from './state.ts';

const source = (...reasons: readonly string[]): SourceStatus => ({
  synced: reasons.length === 0,
  age: undefined,
  reasons,
  watches: [],
  manifests: undefined,
});

describe('readiness', () => {
  it('is on while a known cluster is served, whatever has become of its API server', () => {
    expect(judgeReadiness('serving', true, source())).toEqual({ ready: true });
    expect(judgeReadiness('serving', true, source('services: no connection'))).toEqual({ ready: true });
  });

  it('is on while nothing is heard of its objects, with a note', () => {
    const silences = ['services: nothing heard for 2m', 'endpoints: nothing heard for 2m'];
    const note = 'services: nothing heard for 2m\nendpoints: nothing heard for 2m';
    const readiness = judgeReadiness('serving', true, { ...source(), silences });
    expect(readiness).toEqual({ ready: true, note });
    expect(judgeWithEtcd(readiness, { isKnown: true, age: 90 })).toEqual({
      ready: true,
      note: expect.stringMatching(/^services.*\nendpoints.*\netcd: not followed for/),
    });
  });

  it('is off while a reader thread is down', () => {
    const readers = [makeReaderCounters(), makeReaderCounters()].map(readReaderCounters);
    expect(judgeReadiness('serving', true, source(), { readers, down: 0 })).toEqual({ ready: true });
    expect(judgeReadiness('serving', true, source(), { readers, down: 1 })).toEqual({
      ready: false,
      reason: 'reader threads down: 1 of 2',
    });
  });

  it('is off while a reader cannot receive', () => {
    const readers = [0, FAILING_CALLS].map((failing) => ({
      ...readReaderCounters(makeReaderCounters()),
      failing,
    }));
    expect(judgeReadiness('serving', true, source(), { readers, down: 0 })).toEqual({
      ready: false,
      reason: 'UDP packets cannot be received: 1 of 2 readers',
    });
  });

  it.each([
    ['made', false, undefined, 'starting'],
    ['starting', false, source('services: still listing'), 'services: still listing'],
    ['starting', true, source(), 'starting: sockets are not open'],
    [
      'serving',
      false,
      source('services: forbidden', 'pods: forbidden'),
      'services: forbidden; pods: forbidden',
    ],
    ['serving', false, source(), 'publishing names'],
    ['lameduck', true, source(), 'shutting down'],
    ['draining', true, source(), 'shutting down'],
    ['stopped', true, source(), 'shutting down'],
  ] as const)('in state %s (known: %s) is off, and says why', (state, known, status, reason) => {
    expect(judgeReadiness(state, known, status)).toEqual({ ready: false, reason });
  });
});

describe('the states of a server', () => {
  it('are gone through in order', () => {
    const path = ['starting', 'serving', 'lameduck', 'draining', 'stopped'] as const;
    expect(path.reduce(moveServer, 'made')).toBe('stopped');
  });

  it('are never left backwards', () => {
    expect(() => moveServer('stopped', 'serving')).toThrow(ServerStateError);
    expect(() => moveServer('lameduck', 'serving')).toThrow('lameduck to serving');
  });
});

describe('with names from etcd', () => {
  const etcd = (isKnown: boolean, age: number | undefined) => ({ isKnown, age });

  it('waits until etcd was read, and says for how long it is away then', () => {
    const ready = { ready: true } as const;
    expect(judgeWithEtcd(ready, undefined)).toEqual(ready);
    expect(judgeWithEtcd(ready, etcd(true, 0))).toEqual(ready);
    expect(judgeWithEtcd(ready, etcd(false, undefined))).toEqual({
      ready: false,
      reason: 'etcd: not read yet',
    });
    expect(judgeWithEtcd(ready, etcd(true, 90))).toEqual({
      ready: true,
      note: expect.stringContaining('etcd: not followed for'),
    });
  });

  it('gives the reason of the server first', () => {
    const stopping = { ready: false, reason: 'shutting down' } as const;
    expect(judgeWithEtcd(stopping, etcd(false, undefined))).toEqual(stopping);
  });
});
