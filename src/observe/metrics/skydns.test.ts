import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePrometheusText, seriesKey } from '../../../test/support/prometheus-text.ts';
import { CHAIN_METRICS_ID } from '../../chain/metrics-ids.ts';
import { RESOLVER_METRICS_ID } from '../../handlers/resolver/metrics-ids.ts';
import { METRICS_ID } from '../../kube/metrics-ids.ts';
import { CounterSums, type QueryCounts } from '../../table/counter-sums.ts';
import { Counters } from '../../table/counters.ts';
import { RCODE, TYPE } from '../../wire/types.ts';
import { writeSkyDnsMetrics } from './skydns.ts';

const DEFAULTS = { namespace: 'skydns', subsystem: 'skydns' };
const PREFIX = 'skydns_skydns_dns_';
const TRUNCATED = 0x0200;

interface Answer {
  readonly metricsId: number;
  readonly type?: number;
  readonly flags?: number;
  readonly octets?: number;
}

function count(...answers: readonly Answer[]): QueryCounts {
  const memory = new SharedArrayBuffer(2 ** 17);
  const counters = new Counters(memory, 0);
  for (const { metricsId, type = TYPE.A, flags = 0, octets = 100 } of answers)
    counters.count(type, flags, metricsId, octets);
  return new CounterSums(memory, 1).read();
}

/** The value of each series, by name without its prefix, and labels. */
function valuesOf(counts: QueryCounts): ReadonlyMap<string, number> {
  const families = [...parsePrometheusText(writeSkyDnsMetrics(DEFAULTS, counts)).values()];
  return new Map(
    families.flatMap(({ samples }) =>
      samples.map((sample) => [seriesKey(sample).replace(PREFIX, ''), sample.value] as const),
    ),
  );
}

it('is the text that SkyDNS writes, but for errors counted twice and what a clock measures', () => {
  const ours = { metricsId: CHAIN_METRICS_ID.ours, octets: 120 };
  const missing = { ...ours, flags: RCODE.NXDOMAIN };
  const refused = { metricsId: CHAIN_METRICS_ID.others, flags: RCODE.REFUSED, octets: 50 };
  const text = writeSkyDnsMetrics(
    DEFAULTS,
    count(ours, missing, missing, missing, refused, refused, refused),
  );
  const clockless = (lines: string) => lines.replaceAll(/(duration_seconds_sum\S+) .*/g, '$1 0');
  const recorded = readFileSync('test/metrics/kube-dns.txt', 'utf8');
  expect(clockless(text)).toBe(clockless(recorded).replace('system="auth"} 6', 'system="auth"} 3'));
});

it('says nothing before there was a question', () => {
  expect(writeSkyDnsMetrics(DEFAULTS, count())).toBe('');
});

it.each([
  [{ namespace: 'kube', subsystem: 'dns' }, 'kube_dns_dns_request_count_total'],
  [{ namespace: '', subsystem: 'dns' }, 'dns_dns_request_count_total'],
  [{ namespace: '', subsystem: '' }, 'dns_request_count_total'],
])('begins its names with %o', (names, expected) => {
  const text = writeSkyDnsMetrics(names, count({ metricsId: METRICS_ID.zone }));
  expect([...parsePrometheusText(text).keys()]).toContain(expected);
});

describe('a question', () => {
  it.each([
    ['for a service', { metricsId: METRICS_ID.clusterIP }, 'auth'],
    ['for the type PTR in our domain', { metricsId: METRICS_ID.zone, type: TYPE.PTR }, 'auth'],
    ['for a name below an external one', { metricsId: CHAIN_METRICS_ID.ours }, 'auth'],
    ['for an address of ours', { metricsId: METRICS_ID.reverse, type: TYPE.PTR }, 'reverse'],
    ['for any other address', { metricsId: CHAIN_METRICS_ID.others, type: TYPE.PTR }, 'reverse'],
    ['for a remembered one', { metricsId: RESOLVER_METRICS_ID.answered, type: TYPE.PTR }, 'reverse'],
    ['for another name', { metricsId: CHAIN_METRICS_ID.others }, 'recursive'],
    ['for a remembered name', { metricsId: RESOLVER_METRICS_ID.stale }, 'recursive'],
  ])('%s is of %s: %s', (_, answer, system) => {
    const requests = [...valuesOf(count(answer))].filter(([key]) => key.startsWith('request_count_total'));
    expect(requests).toEqual([[`request_count_total{system="${system}"}`, 1]]);
  });

  it('that was none is not counted', () => {
    expect(valuesOf(count({ metricsId: 0, flags: RCODE.FORMERR })).size).toBe(0);
  });
});

describe('an error', () => {
  const { clusterIP } = METRICS_ID;
  it.each([
    [{ metricsId: clusterIP, flags: RCODE.SERVFAIL }, 'servfail', 'auth'],
    [{ metricsId: clusterIP, flags: TRUNCATED }, 'truncated', 'auth'],
    [{ metricsId: clusterIP, flags: TRUNCATED | RCODE.NXDOMAIN }, 'truncated', 'auth'],
    [{ metricsId: RESOLVER_METRICS_ID.answered, flags: RCODE.NXDOMAIN }, 'nxdomain', 'recursive'],
  ])('%o is counted as %s', (answer, cause, system) => {
    const errors = [...valuesOf(count(answer, { metricsId: clusterIP }))].filter(([key]) =>
      key.startsWith('error_count_total'),
    );
    expect(errors).toEqual([[`error_count_total{cause="${cause}",system="${system}"}`, 1]]);
  });
});

it('counts as misses of the cache what the table left to others', () => {
  const counts = count({ metricsId: METRICS_ID.headless }, { metricsId: CHAIN_METRICS_ID.ours });
  expect(valuesOf(counts).get('cachemiss_count_total{cache="response"}')).toBe(1);
  const none = count({ metricsId: METRICS_ID.headless });
  expect(valuesOf(none).get('cachemiss_count_total{cache="response"}')).toBe(0);
});

it('is right to every scraper and counts every question once, whatever was asked', () => {
  const answer = fc.record({
    metricsId: fc.integer({ min: 1, max: 15 }),
    type: fc.constantFrom<number>(...Object.values(TYPE)),
    flags: fc.integer({ min: 0, max: 0xffff }),
    octets: fc.integer({ min: 12, max: 65_535 }),
  });
  fc.assert(
    fc.property(fc.array(answer, { maxLength: 50 }), (answers) => {
      const values = [...valuesOf(count(...answers))];
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
