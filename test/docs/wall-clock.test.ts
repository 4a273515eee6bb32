/**
 * Time is a parameter: `Clock` has `monotonic()` for durations, TTLs and histograms, and `now()` for the time of day. Code that reads
 * another clock could not be tested, and would fail when the wall clock is set.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** What they read it for. */
const READERS: Readonly<Record<string, string>> = {
  'packages/kernel/src/base/clock.ts': 'it is the clock',
  'packages/kernel/src/listen/query-events/event-ring.ts': 'a monotonic time that costs less, for each batch',
  'packages/server/src/observe/query-events/query-log-thread.ts':
    'the time of a line, in a thread of its own',
};

const READS = /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\(|\bprocess\.hrtime\b/;

it('no other code than these files reads a clock of its own', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).map((name) => join('src', name));
  const found = files.filter(
    (name) =>
      name.endsWith('.ts') &&
      !name.endsWith('.test.ts') &&
      !name.includes('/testing/') &&
      READS.test(readFileSync(name, 'utf8')),
  );
  expect(found.sort()).toEqual(Object.keys(READERS).sort());
});
