import { encodeMessage } from '@portolan/dns/message.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { makeQuery, QUERY_HEADER } from '../chain/testing/queries.ts';
import { shareRates } from './rate-rules.ts';
import { RatedZones } from './rated-zones.ts';

const RATES = shareRates(
  {
    prefixLengths: { ipv4: 24, ipv6: 56 },
    requests: 1,
    countsStreams: true,
    responses: { response: 0, nodata: 0, nxdomain: 0, referral: 0, error: 0 },
    requestSlip: 0,
    responseSlip: 0,
    window: 1,
    maxCounts: 8,
    reportsOnly: false,
  },
  1,
);

/** @param zones those with a `!` have no rates */
function make(...zones: readonly string[]): RatedZones {
  return new RatedZones(
    zones.map((text) => ({
      zone: toKey(parseName(text.replace('!', ''))),
      rates: text.startsWith('!') ? [] : [RATES],
    })),
  );
}

function isRated(zones: RatedZones, name: string): boolean {
  const { question } = makeQuery(name);
  const packet = encodeMessage({
    header: QUERY_HEADER,
    questions: [question],
    answers: [],
    authorities: [],
    additionals: [],
    edns: undefined,
  });
  return zones.find(packet, 0, packet.length).length > 0;
}

it('finds the rates of the longest zone', () => {
  const zones = make('example.', '!free.example.', 'a.free.example.');
  const rated = ['example.', 'WWW.Example.', 'a.free.example.', 'x.A.FREE.example.'];
  expect(rated.filter((name) => isRated(zones, name))).toEqual(rated);
  for (const name of ['.', 'test.', 'xexample.', 'free.example.', 'b.FREE.example.', 'example.test.'])
    expect(isRated(zones, name), name).toBe(false);
});

it('finds each of many zones', () => {
  const names = Array.from({ length: 300 }, (_, index) => `z${index}.${'a.'.repeat(index % 9)}test.`);
  const zones = make(...names.filter((_, index) => index % 2 === 0));
  for (const [index, name] of names.entries())
    expect(isRated(zones, `x.${name}`), name).toBe(index % 2 === 0);
});

it('has those of the root for all other names', () => {
  expect(isRated(make('.'), 'a.test.')).toBe(true);
  expect(isRated(make('.', '!test.'), 'a.test.')).toBe(false);
  expect(isRated(make('.', '!test.'), '.')).toBe(true);
});

it('finds nothing in octets that are no query, and never fails', () => {
  const zones = make('example.');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), (octets) => {
      zones.find(octets, 0, octets.length);
    }),
  );
  for (const octets of [
    new Uint8Array(0),
    new Uint8Array(300).fill(1),
    Uint8Array.of(...Array(12), 0xc0, 12),
  ])
    expect(zones.find(octets, 0, octets.length)).toEqual([]);
});
