/**
 * Time is a parameter: `Clock` has `monotonic()` for durations, TTLs and histograms, and `now()` for the time of day. Code that reads
 * another clock could not be tested, and would fail when the wall clock is set.
 */
import { expect, it } from 'vitest';
import { readProgramFiles } from '../support/sources.ts';

/** What they read it for. */
const READERS: Readonly<Record<string, string>> = {
  'packages/kernel/src/base/clock.ts': 'it is the clock',
  'packages/kernel/src/listen/query-events/event-ring.ts': 'a monotonic time that costs less, for each batch',
  'packages/server/src/observe/query-events/query-log-thread.ts':
    'the time of a line, in a thread of its own',
};

const READS = /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\(|\bprocess\.hrtime\b/;

it('no other code than these files reads a clock of its own', () => {
  const found = readProgramFiles().filter(({ text }) => READS.test(text));
  expect(found.map(({ path }) => path).sort()).toEqual(Object.keys(READERS).sort());
});
