import { encodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import { CLASS, OPCODE, RCODE } from '@portolan/dns/types.ts';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import type { QueryEvent } from './event-reader.ts';
import { EVENT_MODE, SAMPLING } from './event-ring.ts';
import { QueryEventRings } from './event-rings.ts';
import { EventSampling } from './event-sampling.ts';
import { EventTap } from './event-tap.ts';

const DOMAIN = 'cluster.local.';
const ABOUT = { received: 1, source: 'table', transport: 'udp' } as const;
const CLIENT = { address: '192.0.2.1', port: 5353 };

const HEADER = {
  id: 7,
  opcode: OPCODE.QUERY,
  authoritative: false,
  truncated: false,
  recursionDesired: true,
  recursionAvailable: false,
  authenticData: false,
  checkingDisabled: false,
};

function makeMessage(name: string, isResponse: boolean, rcode: number): Uint8Array {
  return encodeMessage({
    header: { ...HEADER, response: isResponse, rcode },
    questions: [{ name: parseName(name), type: 1, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
    edns: undefined,
  });
}

function makeSampled() {
  const rings = new QueryEventRings(0);
  const clock = new ManualClock();
  const tap = new EventTap(() => [rings], clock);
  const seen: QueryEvent[] = [];
  let lost = 0;
  const end = tap.sample((events, missed) => {
    seen.push(...events);
    lost += missed;
  }, DOMAIN);
  const answer = (name: string, rcode: number = RCODE.NOERROR, times = 1) => {
    const query = makeMessage(name, false, 0);
    const response = makeMessage(name, true, rcode);
    for (let turn = 0; turn < times; turn++) rings.main.add(query, response, CLIENT, ABOUT);
  };
  /** So many answers in each of 20 readings, which are a second. */
  const second = (run: () => void) => {
    for (let reading = 0; reading < 20; reading++) {
      run();
      clock.advance(50);
    }
  };
  const queries = () => seen.reduce((sum, { weight }) => sum + weight, 0) + lost;
  return { rings, tap, seen, answer, second, end, queries };
}

describe('the choice of a sample', () => {
  /** Rates of queries a second, and one in how many is counted. */
  it.each([
    [10, 1],
    [1_000, 1],
    [2_000, 2],
    [7_000, 8],
    [40_000, 16],
    [100_000, 64],
    [100_000_000, 4_096],
  ])('of %i queries a second takes one in %i', (rate, weight) => {
    const sampling = new EventSampling(0);
    sampling.note(Math.min(rate, 5_000), rate, 1_000);
    expect(sampling.weight).toBe(weight);
  });

  it('ends when the load ends, and samples failures too only in a flood', () => {
    const sampling = new EventSampling(0);
    expect(sampling.note(4_000, 40_000, 1_000)).toBe(true);
    expect(sampling.word & SAMPLING.FAILURES).toBe(SAMPLING.FAILURES);
    sampling.note(40_000, 40_000, 2_000);
    expect(sampling.word & SAMPLING.FAILURES).toBe(0);
    sampling.note(100, 100, 3_000);
    expect(sampling.word).toBe(0);
  });
});

describe('sampled events', () => {
  it('represent all queries, within three standard deviations', () => {
    const { seen, answer, second, queries } = makeSampled();
    const run = () => second(() => answer('cart.shop.svc.cluster.local.', RCODE.NOERROR, 500));
    run();
    const before = queries();
    expect([before, seen.every(({ weight }) => weight === 1)]).toEqual([10_000, true]);
    seen.length = 0;
    run();
    expect(new Set(seen.map(({ weight }) => weight))).toEqual(new Set([16]));
    // Gaps of 1 to 31 queries: fewer than half the variance of independent draws.
    expect(Math.abs(queries() - 10_000)).toBeLessThan(3 * Math.sqrt(10_000 * 15));
  });

  it('have all failures, each for itself, with its question', () => {
    const { seen, answer, second } = makeSampled();
    const load = () => answer('cart.shop.svc.cluster.local.', RCODE.NOERROR, 500);
    second(load);
    seen.length = 0;
    second(() => {
      load();
      answer('Broken.example.', RCODE.SERVFAIL);
    });
    const failed = seen.filter(({ responseFlags }) => (responseFlags & 15) === RCODE.SERVFAIL);
    expect(failed.map(({ weight, question }) => [weight, question.length])).toEqual(
      Array.from({ length: 20 }, () => [1, 20]),
    );
  });

  it('are all events while a listener or a log wants them', () => {
    const { rings, tap, seen, answer, second } = makeSampled();
    const load = () => answer('cart.shop.svc.cluster.local.', RCODE.NOERROR, 500);
    second(load);
    expect(tap.sampling).toBe(16);
    const end = tap.follow(() => {});
    seen.length = 0;
    second(load);
    expect([tap.sampling, seen.length]).toEqual([1, 10_000]);
    end();
    rings.setMode(EVENT_MODE.QUERIES);
    seen.length = 0;
    second(load);
    expect(seen.every(({ weight }) => weight === 1)).toBe(true);
  });

  it('end with their listener', () => {
    const { rings, tap, end, answer } = makeSampled();
    end();
    expect([rings.main.isOn, tap.sampling]).toEqual([false, undefined]);
    answer('www.example.com.shop.svc.cluster.local.', RCODE.NXDOMAIN);
    expect([...tap.searches]).toEqual([]);
  });
});

describe('searched names', () => {
  it('are counted exactly by namespace, sampled or not', () => {
    const { tap, answer, second } = makeSampled();
    const run = () => {
      answer('www.example.com.shop.svc.cluster.local.', RCODE.NXDOMAIN, 300);
      answer('api.example.WEB.svc.Cluster.local.', RCODE.NXDOMAIN, 200);
    };
    second(run);
    second(run);
    second(run);
    expect(tap.sampling).toBe(16);
    expect([...tap.searches].sort()).toEqual([
      ['shop', 18_000],
      ['web', 12_000],
    ]);
  });

  it.each([
    ['a service', 'cart.shop.svc.cluster.local.', RCODE.NXDOMAIN],
    ['a name that exists', 'web-0.cart.shop.svc.cluster.local.', RCODE.NOERROR],
    ['a port', '_http._tcp.cart.shop.svc.cluster.local.', RCODE.NXDOMAIN],
    ['another domain', 'www.example.com.shop.svc.cluster.example.', RCODE.NXDOMAIN],
    ['the suffix itself', 'svc.cluster.local.', RCODE.NXDOMAIN],
    ['the root', '.', RCODE.NXDOMAIN],
  ])('are not %s', (_, name, rcode) => {
    const { tap, answer } = makeSampled();
    answer(name, rcode);
    expect([...tap.searches]).toEqual([]);
  });

  it('have escapes where a namespace has octets that are no letters', () => {
    const { tap, answer } = makeSampled();
    answer('www.example.a\\027[2J.svc.cluster.local.', RCODE.NXDOMAIN);
    expect([...tap.searches]).toEqual([['a\\027[2j', 1]]);
  });

  it('of more namespaces than a ring has places for are counted together', () => {
    const { tap, answer } = makeSampled();
    for (let number = 0; number < 6_000; number++)
      answer(`www.example.n${number}.svc.cluster.local.`, RCODE.NXDOMAIN);
    const counts = [...tap.searches.values()];
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(6_000);
    expect(tap.searches.get('')).toBeGreaterThan(0);
    expect(tap.searches.size).toBeLessThanOrEqual(4_097);
  });
});
