import { expect, it } from 'vitest';
import { isRefusal, Refusals } from './refusals.ts';

it('leaves a server that was heard the time for a restart, and a stranger less', () => {
  const stranger = new Refusals();
  const known = new Refusals();
  known.noteHeard();
  for (const refusals of [stranger, known]) for (const now of [1000, 1100]) refusals.noteRefused(now);
  expect([stranger.patience(1100), known.patience(1100)]).toEqual([300, 1400]);
  expect([stranger.patience(1400), known.patience(2500)]).toEqual([0, 0]);
});

it('begins again once the server is heard', () => {
  const refusals = new Refusals();
  refusals.noteRefused(0);
  refusals.noteHeard();
  expect(refusals.patience(9000)).toBe(1500);
});

it('knows what the network says of a server that may be back in a moment', () => {
  expect(['ECONNREFUSED', 'EHOSTUNREACH', 'EACCES', 'malformed'].map(isRefusal)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
