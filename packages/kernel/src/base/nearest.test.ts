import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { countChanges, findNearest } from './nearest.ts';
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

it('counts changes the same, as far as they matter', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 8 });
  fc.assert(
    fc.property(word, word, fc.nat(4), (one, other, max) => {
      const whole = countChanges(one, other);
      const bounded = countChanges(one, other, max);
      expect(bounded > max ? whole > max : bounded === whole).toBe(true);
    }),
  );
});
