import { describe, expect, it } from 'vitest';
import { FULL_DEPTH, PipelineDepth, type TimedReply } from './pipeline-depth.ts';

const FAST: TimedReply = { elapsed: 1, gap: 0, isBehind: true, isOvertaken: false };
const SLOW: TimedReply = { ...FAST, elapsed: 41, gap: 40 };

function passedTrial(): PipelineDepth {
  const depth = new PipelineDepth();
  depth.noteReply({ ...FAST, isBehind: false });
  depth.noteTrial(1, 0.1);
  return depth;
}

function grown(): PipelineDepth {
  const depth = passedTrial();
  for (let reply = 0; reply < 2 * FULL_DEPTH; reply += 1) depth.noteReply(FAST);
  return depth;
}

describe('a server gets', () => {
  it('one query at a time until a trial', () => {
    const depth = new PipelineDepth();
    for (let reply = 0; reply < 1000; reply += 1) depth.noteReply({ ...FAST, isBehind: false });
    expect(depth.depth).toBe(1);
    depth.noteTrial(20, 20);
    expect(depth.depth).toBe(1);
    depth.noteTrial(20, 0.1);
    expect(depth.depth).toBe(4);
  });

  it('twice as many after as many fast replies, up to the full depth', () => {
    const depth = passedTrial();
    for (let reply = 0; reply < 4; reply += 1) depth.noteReply(FAST);
    expect(depth.depth).toBe(8);
    expect(grown().depth).toBe(FULL_DEPTH);
  });

  it('one at a time after replies that waited for those before them', () => {
    const depth = passedTrial();
    for (let reply = 0; reply < 3; reply += 1) {
      expect(depth.depth).toBe(4);
      depth.noteReply(SLOW);
    }
    depth.noteReply(SLOW);
    expect(depth.depth).toBe(1);
  });

  it('as many as before if it works on several at once', () => {
    const depth = grown();
    depth.noteReply({ ...FAST, isOvertaken: true });
    for (let reply = 0; reply < 1000; reply += 1) depth.noteReply(SLOW);
    expect(depth.depth).toBe(FULL_DEPTH);
  });

  it('no more at a time than it answered on a connection that it closed', () => {
    const depth = grown();
    depth.noteClosed(9, 0, 0);
    expect(depth.depth).toBe(8);
    depth.noteClosed(0, 0, 0);
    expect(depth.depth).toBe(1);
  });

  it('half as many after a loss of another thread', () => {
    const depth = passedTrial();
    for (const expected of [2, 1, 1]) {
      depth.noteLostElsewhere();
      expect(depth.depth).toBe(expected);
    }
  });
});

it('believes a bound of queries for ten minutes, after two connections with the same', () => {
  const depth = new PipelineDepth();
  const none = Number.POSITIVE_INFINITY;
  for (const [answered, bound] of [
    [1, none],
    [8, none],
    [7, none],
    [8, none],
    [8, 8],
  ] as const) {
    depth.noteClosed(answered, 0, 0);
    expect(depth.maxQueries(1)).toBe(bound);
  }
  expect(depth.maxQueries(600_000)).toBe(none);
});

it('learns nothing from a connection that was idle', () => {
  const depth = grown();
  for (let time = 0; time < 3; time += 1) depth.noteClosed(1, 300, 0);
  expect([depth.depth, depth.maxQueries(1)]).toEqual([FULL_DEPTH, Number.POSITIVE_INFINITY]);
});

it('has another trial after twice the time', () => {
  const depth = new PipelineDepth();
  const due: number[] = [];
  for (let now = 0; now < 10_000; now += 100) if (depth.takeTrial(now)) due.push(now);
  expect(due).toEqual([0, 1000, 3000, 7000]);
  depth.noteTrial(1, 0);
  expect(depth.takeTrial(1e9)).toBe(false);
});
