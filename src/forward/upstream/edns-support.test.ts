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

it('begins anew when the server sends an OPT record', () => {
  const support = new EdnsSupport(new ManualClock());
  for (const text of ['one.', 'two.']) support.noteFallback(name(text));
  support.noteOpt();
  support.noteFallback(name('three.'));
  expect(support.isUsed).toBe(true);
});
