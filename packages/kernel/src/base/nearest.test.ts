import { expect, it, onTestFinished } from 'vitest';
import { findNearest } from './nearest.ts';
import { WorkCounter } from './testing/work-counter.ts';

const flags = ['--domain', '--dns-port', '--manifests', '--ttl', '--log-level', '--log-format'].map((flag) =>
  flag.slice(2),
);

it.each([
  ['manifest', 'manifests'],
  ['domian', 'domain'],
  ['port', 'dns-port'],
  ['tll', 'ttl'],
  ['loglevel', 'log-level'],
  ['log-fromat', 'log-format'],
])('%s was meant to be %s', (word, meant) => {
  expect(findNearest(word, flags)).toBe(meant);
});

it('a word much longer than all of them is compared with none', () => {
  // A name of 64 KiB in a dnsmasq file once took seconds.
  const counter = new WorkCounter();
  onTestFinished(() => counter.stop());
  const known = Array.from({ length: 300 }, (_, index) => `option-${index}`);
  const work = counter.count(() => expect(findNearest('x'.repeat(65_536), known)).toBeUndefined());
  expect(work).toBeGreaterThan(300);
  expect(work).toBeLessThan(3_000);
});

it.each(['upstream', 'x', 'cache-size'])('%s is near to none', (word) => {
  expect(findNearest(word, flags)).toBeUndefined();
});
