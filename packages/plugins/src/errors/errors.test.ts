import { Pattern } from '@portolan/kernel/base/pattern.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import { makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { NOTHING_RESTORED, type RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import { expect, it } from 'vitest';
import { ErrorsHandler } from './errors.ts';
import type { ErrorConsolidation } from './options.ts';

function makeErrors(...consolidations: ErrorConsolidation[]) {
  return makeErrorsIn(NOTHING_RESTORED, consolidations);
}

function makeErrorsIn(restored: RestoredDeviations, consolidations: readonly ErrorConsolidation[] = []) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const errors = new ErrorsHandler(
    { stacktrace: false, consolidations },
    { clock, log, queryLog: log, restored },
  );
  const note = (answer: Answer) => errors.handler.handle(makeQuery('Web.example.'), () => answer);
  const lines = () => log.records.map(({ level, message }) => `${level} ${message}`);
  return { errors, clock, note, lines };
}

const refused: Answer = { kind: 'servfail', reason: 'connection refused' };

it('logs what handlers say went wrong, and nothing else', async () => {
  const { note, lines } = makeErrors();
  expect(await note(refused)).toBe(refused);
  await note({ kind: 'servfail' });
  await note({ kind: 'refused', reason: 'too many' });
  expect(lines()).toEqual([
    'error plugin/errors: 2 web.example. A: connection refused',
    'error plugin/errors: 5 web.example. A: too many',
  ]);
});

it('counts errors that fit a pattern, and tells them after the period or at the end', async () => {
  const pattern = new Pattern('refused$');
  const { errors, clock, note, lines } = makeErrors({
    period: 1000,
    pattern,
    level: 'warning',
    showFirst: true,
  });
  for (let count = 0; count < 3; count += 1) await note(refused);
  await note({ kind: 'servfail', reason: 'timeout' });
  clock.advance(1000);
  await note(refused);
  errors.stop();
  expect(lines()).toEqual([
    'error plugin/errors: 2 web.example. A: connection refused',
    'error plugin/errors: 2 web.example. A: timeout',
    "warn plugin/errors: 3 errors like 'refused$' occurred in last 1s",
    'error plugin/errors: 2 web.example. A: connection refused',
    "warn plugin/errors: 1 errors like 'refused$' occurred in last 1s",
  ]);
});

it('logs a few errors a minute, and the number of others', async () => {
  const { errors, clock, note, lines } = makeErrors();
  for (let count = 0; count < 20; count += 1) await note(refused);
  expect(lines()).toHaveLength(5);
  clock.advance(60_000);
  expect(lines().slice(5)).toEqual(['error plugin/errors: 15 more errors in last 1m0s']);
  for (let count = 0; count < 6; count += 1) await note(refused);
  errors.stop();
  expect(lines().at(-1)).toBe('error plugin/errors: 1 more errors in last 1m0s');
  expect(lines()).toHaveLength(12);
  expect(clock.pending).toBe(0);
});

it('logs each error where CoreDNS is to be matched', async () => {
  const { note, lines } = makeErrorsIn(new Set(['error-lines']));
  for (let count = 0; count < 20; count += 1) await note(refused);
  expect(lines()).toHaveLength(20);
});
