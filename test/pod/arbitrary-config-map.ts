/**
 * Arbitrary contents of a ConfigMap: any octets under any key, and almost valid settings of kube-dns.
 */
import fc from 'fast-check';
import type { Data } from './config-map.ts';

const KEYS = ['stubDomains', 'upstreamNameservers', 'federations'];
/** Names that objects of JavaScript have by themselves. */
const INHERITED = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];

/** What the API server lets a key be. */
const arbitraryKey = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...KEYS) },
  { weight: 1, arbitrary: fc.constantFrom(...INHERITED, 'stubdomains', 'stubDomains.json', 'A-_.z') },
  { weight: 1, arbitrary: fc.stringMatching(/^[-_a-zA-Z0-9]{1,40}$/) },
);

const deep = (open: string, close: string) =>
  fc.integer({ min: 1, max: 50_000 }).map((depth) => open.repeat(depth) + close.repeat(depth));
const stubDomain = (index: number) => `"d${index}.test":["127.1.${index >> 8}.${index & 255}"]`;
/** Stub domains by the thousand, good and, without their end, bad. */
const huge = fc
  .tuple(fc.integer({ min: 1, max: 5_000 }), fc.constantFrom('}', ''))
  .map(([count, end]) => `{${Array.from({ length: count }, (_, index) => stubDomain(index)).join()}${end}`);

/** Texts that come near to settings, all of them wrong. */
const nearMisses = fc.constantFrom(
  '{"acme.test":["127.0.0.1"],"acme.test":[""]}',
  '{"__proto__":["127.0.0.1"]}',
  '{"acme.test":{"__proto__":["127.0.0.1"]}}',
  '{"constructor":{"prototype":["127.0.0.1"]}}',
  '{"acme.test":["127.0.0.1:99999"]}',
  '{"ACME.test":["127.0.0.1"]}',
  '{"":["127.0.0.1"]}',
  `{"${'a'.repeat(64)}.test":["127.0.0.1"]}`,
  `{"${'a.'.repeat(126)}test":["127.0.0.1"]}`,
  '{"acme.test":"127.0.0.1"}',
  '{"acme.test":[null]}',
  '["127.0.0.1","127.0.0.2","127.0.0.3","127.0.0.4"]',
  '["upstream.test"]',
  '["127.0.0.1:"]',
  '\u0000',
  '\ufeff{}',
  '1e999',
  'fed=example.com,=,fed',
  'fed=',
);

const arbitraryText = fc.oneof(
  nearMisses,
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.json({ maxDepth: 4 }),
  deep('[', ']'),
  deep('{"a":', '}'),
  huge,
);

const arbitraryOctets = fc.oneof(
  arbitraryText,
  fc.uint8Array({ maxLength: 300 }),
  // Cut in the middle of a character.
  fc.constant(Uint8Array.from([0x22, 0xe2, 0x82])),
);

const dictionary = <Value>(values: fc.Arbitrary<Value>) =>
  fc
    .array(fc.tuple(arbitraryKey, values), { minLength: 1, maxLength: 4 })
    // Not an object literal's way, which would lose __proto__.
    .map((entries) => Object.fromEntries(entries));

/** As the API server gives it: all values are texts. */
export const arbitraryTexts: fc.Arbitrary<Readonly<Record<string, string>>> = dictionary(arbitraryText);
/** As a volume has it: all values are octets. */
export const arbitraryFiles: fc.Arbitrary<Data> = dictionary(arbitraryOctets);
