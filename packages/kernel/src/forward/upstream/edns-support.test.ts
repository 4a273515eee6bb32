import { parseName, toKey } from '@portolan/dns/name.ts';
import { expect, it } from 'vitest';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import { EdnsSupport } from './edns-support.ts';

const name = (text: string) => toKey(parseName(text));

it('leaves EDNS out for a minute when a name was answered without it only, but not where DNSSEC needs it', () => {
  const clock = new ManualClock();
  const support = new EdnsSupport(clock);
  support.noteFallback(name('one.'));
  expect([support.isUsed, support.isUsedForDnssec]).toEqual([false, true]);
  clock.advance(59_999);
  expect(support.isUsed).toBe(false);
  clock.advance(1);
  expect(support.isUsed).toBe(true);
});

it('leaves it out for some minutes from all, when three names were answered without it only', () => {
  const clock = new ManualClock();
  const support = new EdnsSupport(clock);
  for (const text of ['one.', 'one.', 'two.']) support.noteFallback(name(text));
  expect(support.isUsedForDnssec).toBe(true);
  support.noteFallback(name('three.'));
  expect([support.isUsed, support.isUsedForDnssec]).toEqual([false, false]);
  clock.advance(599_999);
  expect([support.isUsed, support.isUsedForDnssec]).toEqual([false, false]);
  clock.advance(1);
  expect([support.isUsed, support.isUsedForDnssec]).toEqual([true, true]);
  // One name is enough then.
  support.noteFallback(name('four.'));
  expect(support.isUsedForDnssec).toBe(false);
});

it('takes silence for loss while the server is known to answer with EDNS', () => {
  const clock = new ManualClock();
  const support = new EdnsSupport(clock);
  support.noteAnswered();
  for (let turn = 0; turn < 9; turn += 1) support.noteFallback(name(`n${turn}.`));
  expect([support.isUsed, support.isProven]).toEqual([true, true]);
  clock.advance(60_000);
  expect(support.isProven).toBe(false);
  support.noteFallback(name('n.'));
  expect(support.isUsed).toBe(false);
});

it('starts over when the server answers with EDNS', () => {
  const clock = new ManualClock();
  const support = new EdnsSupport(clock);
  for (const text of ['one.', 'two.']) support.noteFallback(name(text));
  support.noteAnswered();
  expect(support.isUsed).toBe(true);
  clock.advance(60_000);
  support.noteFallback(name('three.'));
  expect(support.isUsedForDnssec).toBe(true);
});

it('reports each change', () => {
  const clock = new ManualClock();
  const seen: boolean[] = [];
  const support: EdnsSupport = new EdnsSupport(clock, () => seen.push(support.isUsed));
  support.noteFallback(name('one.'));
  clock.advance(60_000);
  expect(seen).toEqual([false, true]);
  support.noteFallback(name('two.'));
  support.noteAnswered();
  clock.advance(600_000);
  expect(seen).toEqual([false, true, false, true]);
  support.stop();
});
