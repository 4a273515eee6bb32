import { expect, it } from 'vitest';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import { parseName, toKey } from '../../wire/name.ts';
import { EdnsSupport } from './edns-support.ts';

const name = (text: string) => toKey(parseName(text));

it('leaves EDNS out for some minutes, when three names were answered without it only', () => {
  const clock = new ManualClock();
  const support = new EdnsSupport(clock);
  for (const text of ['one.', 'one.', 'two.']) support.noteFallback(name(text));
  expect(support.isUsed).toBe(true);
  support.noteFallback(name('three.'));
  expect(support.isUsed).toBe(false);
  clock.advance(599_999);
  expect(support.isUsed).toBe(false);
  clock.advance(1);
  expect(support.isUsed).toBe(true);
});

it('takes silence for loss while the server is known to send OPT records', () => {
  const clock = new ManualClock();
  const support = new EdnsSupport(clock);
  support.noteOpt();
  for (let turn = 0; turn < 9; turn += 1) support.noteFallback(name(`n${turn}.`));
  expect([support.isUsed, support.isProven]).toEqual([true, true]);
  clock.advance(60_000);
  expect(support.isProven).toBe(false);
  for (let turn = 0; turn < 3; turn += 1) support.noteFallback(name(`n${turn}.`));
  expect(support.isUsed).toBe(false);
});

it('begins anew when the server sends an OPT record', () => {
  const support = new EdnsSupport(new ManualClock());
  for (const text of ['one.', 'two.']) support.noteFallback(name(text));
  support.noteOpt();
  support.noteFallback(name('three.'));
  expect(support.isUsed).toBe(true);
});
