import { expect, it } from 'vitest';
import type { ForwardStatistics } from './forward-statistics.ts';
import { ForwardTally } from './forward-tally.ts';

function makeForwarder(upstream: string, sent: number, inFlight = 0) {
  const dropped = { strange: 1, otherQuestion: 0, otherCase: 0 };
  const server = {
    upstream,
    sent,
    dropped,
    inFlight,
    timeouts: 1,
    networkErrors: 0,
    loops: 0,
    timeout: 50,
    state: { kind: 'untried' } as const,
    stateAge: 0,
    lastReplyAge: undefined,
    replies: new Map([[0, sent]]),
    smoothedRoundTrip: undefined,
  };
  const counts = { queued: 0, coalesced: 1, refused: 0, hedged: 0, retried: 0, droppedRecords: 0 };
  return { statistics: (): ForwardStatistics => ({ ...counts, inFlight, upstreams: [server] }) };
}

it('counts a server of several forwarders once, and keeps counts of those that have ended', () => {
  const tally = new ForwardTally();
  const one = makeForwarder('192.0.2.1:53', 5, 2);
  const other = makeForwarder('192.0.2.1:53', 7, 1);
  tally.follow(one);
  tally.follow(other);
  const expected = { upstream: '192.0.2.1:53', sent: 12, timeouts: 2, replies: new Map([[0, 12]]) };
  expect(tally.count()).toMatchObject({ inFlight: 3, coalesced: 2, upstreams: [expected] });
  tally.leave(one);
  tally.leave(one);
  expect(tally.count()).toMatchObject({
    inFlight: 1,
    coalesced: 2,
    upstreams: [{ ...expected, inFlight: 1 }],
  });
});

it('forgets a server that no forwarder has any more, but not what was asked', () => {
  const tally = new ForwardTally();
  const former = makeForwarder('192.0.2.1:53', 5);
  tally.follow(former);
  tally.follow(makeForwarder('192.0.2.2:53', 1));
  tally.leave(former);
  expect(tally.count()).toMatchObject({ coalesced: 2, upstreams: [{ upstream: '192.0.2.2:53', sent: 1 }] });
});

it('counts failures and times', () => {
  const tally = new ForwardTally();
  tally.noteFailure('timeout');
  tally.noteFailure('timeout');
  tally.observe(3);
  const { failures, latency } = tally.count();
  expect([...failures]).toEqual([['timeout', 2]]);
  expect(latency.count).toBe(1);
});

it('counts what took at most so long, and all together', () => {
  const tally = new ForwardTally();
  for (const milliseconds of [0.5, 1, 1.5, 20, 4999, 60_000]) tally.observe(milliseconds);
  const { buckets, sum, count } = tally.count().latency;
  const below = new Map(buckets);
  expect([0.001, 0.002, 0.01, 0.02, 2, 5].map((end) => below.get(end))).toEqual([2, 3, 3, 4, 4, 5]);
  expect(sum).toBeCloseTo(65.022);
  expect(count).toBe(6);
});
