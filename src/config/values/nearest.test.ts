import { expect, it } from 'vitest';
import { findNearest } from './nearest.ts';

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

it.each(['upstream', 'x', 'cache-size'])('%s is near to none', (word) => {
  expect(findNearest(word, flags)).toBeUndefined();
});
