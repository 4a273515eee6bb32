import { encodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import { RCODE, type ResourceRecord } from '@portolan/dns/types.ts';
import { describe, expect, it } from 'vitest';
import { makeQuery, QUERY_HEADER, record } from '../chain/testing/queries.ts';
import { encodeSocketAddress } from '../socket/addresses.ts';
import { DEBIT } from './rate-limiter.ts';
import { EXCEEDED, makeExceededWords, RateChecker, type RateRules, shareRates } from './rate-rules.ts';

const RULES: RateRules = {
  prefixLengths: { ipv4: 24, ipv6: 56 },
  requests: 0,
  countsStreams: true,
  responses: { response: 1, nodata: 1, nxdomain: 1, referral: 1, error: 1 },
  requestSlip: 0,
  responseSlip: 0,
  window: 15_000,
  maxCounts: 1_000,
  reportsOnly: false,
};
const NOW = 1_000_000;
const { WITHIN, EXCEEDED: OVER } = DEBIT;

function makeChecker(rules: Partial<RateRules> = {}) {
  const words = makeExceededWords();
  const shared = { ...shareRates({ ...RULES, ...rules }, 4711), exceeded: words };
  const checker = new RateChecker(shared);
  return {
    respond: (packet: Uint8Array, client = '192.0.2.1') =>
      checker.countResponse(encodeSocketAddress({ address: client, port: 53 }), 0, packet, 0, NOW),
    request: (client: string) =>
      checker.countRequest(encodeSocketAddress({ address: client, port: 53 }), 0, NOW),
    exceeded: () => [...new Int32Array(words)],
  };
}

interface Told {
  readonly name: string;
  readonly type?: 'A' | 'AAAA';
  readonly rcode?: number;
  readonly answers?: readonly ResourceRecord[];
  readonly authorities?: readonly ResourceRecord[];
}

function respondTo({ name, type = 'A', rcode = 0, answers = [], authorities = [] }: Told): Uint8Array {
  const { question } = makeQuery(name, type);
  const header = { ...QUERY_HEADER, response: true, rcode };
  return encodeMessage({
    header,
    questions: [question],
    answers,
    authorities,
    additionals: [],
    edns: undefined,
  });
}

const address = (name: string) => record(name, { kind: 'A', address: '192.0.2.9' });
const soa = (zone: string) =>
  record(zone, {
    kind: 'SOA',
    primary: parseName('ns.test.'),
    mailbox: parseName('host.test.'),
    serial: 1,
    refresh: 1,
    retry: 1,
    expire: 1,
    minimum: 1,
  });
const ns = (zone: string) => record(zone, { kind: 'NS', target: parseName('ns.sub.test.') });
const { NXDOMAIN, SERVFAIL, REFUSED } = RCODE;

describe('responses', () => {
  it.each<{ what: string; one: Told; other: Told; alike: boolean }>([
    {
      what: 'of one name, with other capitals',
      alike: true,
      one: { name: 'a.test.', answers: [address('a.test.')] },
      other: { name: 'A.TEST.', answers: [address('A.TEST.')] },
    },
    {
      what: 'of two types',
      alike: false,
      one: { name: 'a.test.', answers: [address('a.test.')] },
      other: { name: 'a.test.', type: 'AAAA', answers: [address('a.test.')] },
    },
    {
      what: 'without records, of two types',
      alike: true,
      one: { name: 'a.test.', authorities: [soa('test.')] },
      other: { name: 'a.test.', type: 'AAAA', authorities: [soa('test.')] },
    },
    {
      what: 'that deny two names of a zone',
      alike: true,
      one: { name: 'a.test.', rcode: NXDOMAIN, authorities: [soa('test.')] },
      other: { name: 'b.test.', type: 'AAAA', rcode: NXDOMAIN, authorities: [soa('TEST.')] },
    },
    {
      what: 'that deny names of two zones',
      alike: false,
      one: { name: 'a.test.', rcode: NXDOMAIN, authorities: [soa('test.')] },
      other: { name: 'a.example.', rcode: NXDOMAIN, authorities: [soa('example.')] },
    },
    {
      what: 'that refer two names to a zone',
      alike: true,
      one: { name: 'a.sub.test.', authorities: [ns('sub.test.')] },
      other: { name: 'b.sub.test.', authorities: [ns('sub.test.')] },
    },
    {
      what: 'with two errors',
      alike: true,
      one: { name: 'a.test.', rcode: SERVFAIL },
      other: { name: 'b.test.', type: 'AAAA', rcode: REFUSED },
    },
    {
      what: 'that deny a type, and a name',
      alike: false,
      one: { name: 'a.test.', authorities: [soa('test.')] },
      other: { name: 'a.test.', rcode: NXDOMAIN, authorities: [soa('test.')] },
    },
  ])('$what count together: $alike', ({ one, other, alike }) => {
    const { respond } = makeChecker();
    expect(respond(respondTo(one))).toBe(WITHIN);
    expect(respond(respondTo(other))).toBe(alike ? OVER : WITHIN);
  });

  it('have rates by their kinds', () => {
    const { respond, exceeded } = makeChecker({ responses: { ...RULES.responses, error: 0, nxdomain: 3 } });
    const debits = (told: Told) => Array.from({ length: 5 }, () => respond(respondTo(told)));
    expect(debits({ name: 'a.test.', rcode: SERVFAIL })).not.toContain(OVER);
    expect(debits({ name: 'a.test.', rcode: NXDOMAIN }).indexOf(OVER)).toBe(3);
    expect(exceeded()[EXCEEDED.RESPONSES]).toBe(2);
  });

  it('of octets that are no message are judged too, in bounded time', () => {
    const { respond } = makeChecker();
    const loop = Uint8Array.from([0, 0, 0x80, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0xc0, 12]);
    for (const packet of [
      loop,
      new Uint8Array(0),
      new Uint8Array(600).fill(63),
      new Uint8Array(40).fill(255),
    ])
      expect([WITHIN, OVER]).toContain(respond(packet));
  });
});

it.each([
  ['192.0.2.77', '192.0.2.1', { ipv4: 24, ipv6: 56 }, true],
  ['192.0.2.77', '192.0.3.77', { ipv4: 24, ipv6: 56 }, false],
  ['192.0.2.77', '192.0.2.76', { ipv4: 32, ipv6: 56 }, false],
  ['192.0.2.77', '192.0.2.65', { ipv4: 26, ipv6: 56 }, true],
  ['192.0.2.77', '192.0.2.63', { ipv4: 26, ipv6: 56 }, false],
  ['2001:db8:1:2ff::1', '2001:db8:1:200::2', { ipv4: 24, ipv6: 56 }, true],
  ['2001:db8:1:2ff::1', '2001:db8:1:300::1', { ipv4: 24, ipv6: 56 }, false],
  ['2001:db8::1', '2001:db8::2', { ipv4: 24, ipv6: 128 }, false],
])('%s and %s are in one network by %o: %s', (one, other, prefixLengths, together) => {
  const { request, exceeded } = makeChecker({ prefixLengths, requests: 1 });
  expect(request(one)).toBe(WITHIN);
  expect(request(other)).toBe(together ? OVER : WITHIN);
  expect(exceeded()[EXCEEDED.REQUESTS]).toBe(together ? 1 : 0);
});

it('only counts if it only reports', () => {
  const { request, exceeded } = makeChecker({ requests: 1, reportsOnly: true });
  expect([request('192.0.2.1'), request('192.0.2.1')]).toEqual([WITHIN, WITHIN]);
  expect(exceeded()[EXCEEDED.REQUESTS]).toBe(1);
});
