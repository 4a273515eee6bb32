import { makeUse as use } from '@portolan/testing/uses.ts';
import { expect, it } from 'vitest';
import { readRules } from './options.ts';

it('reads rules', () => {
  expect(
    readRules([
      use('alternate original servfail,REFUSED . 192.0.2.1 dns://192.0.2.2'),
      use('alternate NXDOMAIN Example.org 192.0.2.3:5353'),
    ]),
  ).toEqual([
    { rcodes: [2, 5], from: '.', servers: ['192.0.2.1', '192.0.2.2'] },
    { rcodes: [3], from: 'example.org.', servers: ['192.0.2.3:5353'] },
  ]);
});

it.each([
  [[use('alternate')], "Wrong argument count or unexpected line ending after 'alternate'"],
  [[use('alternate original NXDOMAIN .')], "Wrong argument count or unexpected line ending after '.'"],
  [[use('alternate NXDOMAN . 192.0.2.1')], 'NXDOMAN is not a valid rcode'],
  [[use('alternate NXDOMAIN . 192.0.2.1', 'policy sequential')], 'additional parameters not allowed: policy'],
  [
    [use('alternate NXDOMAIN . 192.0.2.1'), use('alternate SERVFAIL,NXDOMAIN . 192.0.2.2')],
    "rcode 'NXDOMAIN' is specified more than once",
  ],
])('refuses mistakes: %#', (uses, message) => {
  expect(() => readRules(uses)).toThrow(message);
});
