import { readFileSync } from 'node:fs';
import { RCODE, TYPE } from '@portolan/dns/types.ts';
import { writeSortedFamilies } from '@portolan/kernel/base/metrics/text-format.ts';
import { parsePrometheusText, seriesKey } from '@portolan/kernel/base/testing/prometheus-text.ts';
import { CHAIN_OUTCOME, RESOLVER_OUTCOME } from '@portolan/kernel/chain/outcomes.ts';
import { CounterSums, type QueryCounts } from '@portolan/kernel/table/counter-sums.ts';
import { Counters } from '@portolan/kernel/table/counters.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { OUTCOME } from '@portolan/kubernetes/names/outcomes.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { skyDnsFamilies } from './skydns.ts';

const write = (...[names, counts]: Parameters<typeof skyDnsFamilies>): string =>
  writeSortedFamilies(skyDnsFamilies(names, counts));
const DEFAULTS = { namespace: 'skydns', subsystem: 'skydns' };
const PREFIX = 'skydns_skydns_dns_';
const TRUNCATED = 0x0200;

interface Answer {
  readonly outcome: number;
  readonly type?: number;
  readonly flags?: number;
  readonly octets?: number;
}

function count(...answers: readonly Answer[]): QueryCounts {
  const { memory } = new TableWriter({ readers: 1, reservation: 2 ** 20, cacheEntries: 0 });
  const counters = new Counters(memory, 0);
  for (const { outcome, type = TYPE.A, flags = 0, octets = 100 } of answers)
    counters.count(type, flags, outcome, octets);
  return new CounterSums(memory, 1).read();
}

/** The value of each series, by labels and name without prefix. */
function readValues(counts: QueryCounts): ReadonlyMap<string, number> {
  const families = [...parsePrometheusText(write(DEFAULTS, counts)).values()];
  return new Map(
    families.flatMap(({ samples }) =>
      samples.map((sample) => [seriesKey(sample).replace(PREFIX, ''), sample.value] as const),
    ),
  );
}

it('is the text that SkyDNS writes, but for errors counted twice and what a clock measures', () => {
  const ours = { outcome: CHAIN_OUTCOME.ours, octets: 120 };
  const missing = { ...ours, flags: RCODE.NXDOMAIN };
  const refused = { outcome: CHAIN_OUTCOME.others, flags: RCODE.REFUSED, octets: 50 };
  const text = write(DEFAULTS, count(ours, missing, missing, missing, refused, refused, refused));
  const clockless = (lines: string) => lines.replaceAll(/(duration_seconds_sum\S+) .*/g, '$1 0');
  const recorded = readFileSync('test/metrics/kube-dns.txt', 'utf8');
  expect(clockless(text)).toBe(clockless(recorded).replace('system="auth"} 6', 'system="auth"} 3'));
});

it('says nothing before there was a question', () => {
  expect(write(DEFAULTS, count())).toBe('');
});

it.each([
  [{ namespace: 'kube', subsystem: 'dns' }, 'kube_dns_dns_request_count_total'],
  [{ namespace: '', subsystem: 'dns' }, 'dns_dns_request_count_total'],
  [{ namespace: '', subsystem: '' }, 'dns_request_count_total'],
])('begins its names with %o', (names, expected) => {
  const text = write(names, count({ outcome: OUTCOME.zone }));
  expect([...parsePrometheusText(text).keys()]).toContain(expected);
});

describe('a question', () => {
  it.each([
    ['for a service', { outcome: OUTCOME.clusterIP }, 'auth'],
    ['for the type PTR in our domain', { outcome: OUTCOME.zone, type: TYPE.PTR }, 'auth'],
    ['for a name below an external one', { outcome: CHAIN_OUTCOME.ours }, 'auth'],
    ['for an address of the zone', { outcome: OUTCOME.reverse, type: TYPE.PTR }, 'reverse'],
    ['for any other address', { outcome: CHAIN_OUTCOME.others, type: TYPE.PTR }, 'reverse'],
    ['for a remembered one', { outcome: RESOLVER_OUTCOME.answered, type: TYPE.PTR }, 'reverse'],
    ['for another name', { outcome: CHAIN_OUTCOME.others }, 'recursive'],
    ['for a remembered name', { outcome: RESOLVER_OUTCOME.stale }, 'recursive'],
  ])('%s is of %s: %s', (_, answer, system) => {
    const requests = [...readValues(count(answer))].filter(([key]) => key.startsWith('request_count_total'));
    expect(requests).toEqual([[`request_count_total{system="${system}"}`, 1]]);
  });

  it('that was none is not counted', () => {
    expect(readValues(count({ outcome: 0, flags: RCODE.FORMERR })).size).toBe(0);
  });
});

describe('an error', () => {
  const { clusterIP } = OUTCOME;
  it.each([
    [{ outcome: clusterIP, flags: RCODE.SERVFAIL }, 'servfail', 'auth'],
    [{ outcome: clusterIP, flags: TRUNCATED }, 'truncated', 'auth'],
    [{ outcome: clusterIP, flags: TRUNCATED | RCODE.NXDOMAIN }, 'truncated', 'auth'],
    [{ outcome: RESOLVER_OUTCOME.answered, flags: RCODE.NXDOMAIN }, 'nxdomain', 'recursive'],
  ])('%o is counted as %s', (answer, cause, system) => {
    const errors = [...readValues(count(answer, { outcome: clusterIP }))].filter(([key]) =>
      key.startsWith('error_count_total'),
    );
    expect(errors).toEqual([[`error_count_total{cause="${cause}",system="${system}"}`, 1]]);
  });
});

it('counts as misses of the cache what the table left to others', () => {
  const counts = count({ outcome: OUTCOME.headless }, { outcome: CHAIN_OUTCOME.ours });
  expect(readValues(counts).get('cachemiss_count_total{cache="response"}')).toBe(1);
  const none = count({ outcome: OUTCOME.headless });
  expect(readValues(none).get('cachemiss_count_total{cache="response"}')).toBe(0);
});

it('is right to every scraper and counts every question once, whatever was asked', () => {
  const answer = fc.record({
    outcome: fc.integer({ min: 1, max: 15 }),
    type: fc.constantFrom<number>(...Object.values(TYPE)),
    flags: fc.integer({ min: 0, max: 0xffff }),
    octets: fc.integer({ min: 12, max: 65_535 }),
  });
  fc.assert(
    fc.property(fc.array(answer, { maxLength: 50 }), (answers) => {
      const values = [...readValues(count(...answers))];
      for (const series of [
        'request_count_total{',
        'request_duration_seconds_count{',
        'response_size_bytes_count{',
      ]) {
        const sum = values
          .filter(([key]) => key.startsWith(series))
          .reduce((total, [, value]) => total + value, 0);
        expect(sum).toBe(answers.length);
      }
    }),
    { numRuns: 50 },
  );
});
