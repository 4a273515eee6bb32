import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { describe, expect, it } from 'vitest';
import { serveOn } from './drain.ts';

const STEP = 250;

/** Serves on, with a query in each step until `lastQuery`. @returns the seconds after which it ended, and the log */
async function measure(lameduck: number, drain: number, lastQuery: number) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  let passed = 0;
  let queries = 0;
  const wait = async (milliseconds: number) => {
    for (let left = milliseconds; left > 0; left -= STEP) {
      clock.advance(Math.min(STEP, left));
      passed += Math.min(STEP, left);
      if (passed <= lastQuery) queries += 1;
    }
  };
  await serveOn({ lameduck, drain }, { countQueries: () => queries, wait, clock, log });
  return { seconds: passed / 1_000, lines: log.records.length, log: log.text };
}

describe('a server serves on', () => {
  it.each([
    ['for the lameduck time alone', 5_000, 0, 60_000, 5],
    ['for the lameduck time, although the drain is shorter', 30_000, 25_000, 60_000, 30],
    ['for the lameduck time, if no query comes any more', 5_000, 25_000, 1_000, 5],
    ['until no query has arrived for three seconds', 5_000, 25_000, 12_000, 15],
    ['until the drain ends, if queries do not', 5_000, 25_000, 60_000, 25],
    ['not at all', 0, 0, 60_000, 0],
  ])('%s', async (_how, lameduck, drain, lastQuery, seconds) => {
    expect((await measure(lameduck, drain, lastQuery)).seconds).toBe(seconds);
  });

  it('and says so once, if queries prolong it', async () => {
    expect((await measure(5_000, 25_000, 1_000)).lines).toBe(0);
    const { lines, log } = await measure(5_000, 25_000, 60_000);
    expect(lines).toBe(1);
    expect(log).toContain('queries still arrive');
    expect(log).toContain('20s');
  });
});
