/**
 * The parts of the benchmarks whose errors would go unnoticed: shares of the mix, arithmetic, parsing of other programs'
 * output.
 */
import { describe, expect, it } from 'vitest';
import { type Cluster, describeCluster, isHeadless } from '../../bench/cluster.ts';
import { DnsperfError, parseReport } from '../../bench/dnsperf.ts';
import { makeObjects } from '../../bench/kubernetes-objects.ts';
import { readThreadTimes, sumTimes, timesBetween } from '../../bench/processor-time.ts';
import { MIX, writeQuestions } from '../../bench/questions.ts';
import { isMet, printTable } from '../../bench/report.ts';
import { takeTurns } from '../../bench/rounds.ts';
import { percentile, summarize } from '../../bench/statistics.ts';
import { writeZoneFile } from '../../bench/zone-file.ts';

const cluster: Cluster = describeCluster({ services: 200, endpoints: 500 });

describe('the cluster', () => {
  it('has as many services and endpoints as asked for, every address once', () => {
    const endpoints = cluster.services.flatMap((service) => service.endpoints);
    const addresses = [
      ...cluster.services.flatMap((service) => service.addresses),
      ...endpoints.map(({ address }) => address),
    ];
    expect([cluster.services.length, endpoints.length]).toEqual([200, 500]);
    expect(new Set(addresses).size).toBe(addresses.length);
    expect(cluster.services.filter(isHeadless)).toHaveLength(20);
  });

  it('is the same for the API server and for servers with a zone file', () => {
    const kinds = [...makeObjects(cluster)].map(({ kind }) => kind);
    const zone = writeZoneFile(cluster);
    expect(kinds.filter((kind) => kind === 'Service')).toHaveLength(200);
    expect(kinds.filter((kind) => kind === 'EndpointSlice')).toHaveLength(200);
    for (const { name, namespace } of cluster.services)
      expect(zone).toContain(`\n${name}.${namespace}.svc A `);
  });
});

describe('the questions', () => {
  const lines = writeQuestions(cluster, 1000);
  const share = (pattern: RegExp) => (100 * lines.filter((line) => pattern.test(line)).length) / lines.length;

  it('have the shares of the mix', () => {
    expect(share(/^service-\S+ A$/)).toBe(MIX.A);
    expect(share(/^service-\S+ AAAA$/)).toBe(MIX.AAAA);
    expect(share(/^_http\._tcp\.service-\S+ SRV$/)).toBe(MIX.SRV);
    expect(share(/^\S+\.(com|org)\.team-\d+\.svc\.cluster\.local A+$/)).toBe(MIX.searchMiss);
    expect(share(/^absent-/)).toBe(MIX.absent);
  });

  it('are the same in every run', () => {
    expect(writeQuestions(cluster, 1000)).toEqual(lines);
  });
});

describe('the report of dnsperf', () => {
  const text = `
Statistics:

  Queries sent:         1000
  Queries completed:    990 (99.00%)
  Queries lost:         10 (1.00%)

  Response codes:       NOERROR 792 (80.00%), NXDOMAIN 198 (20.00%)
  Average packet size:  request 54, response 87
  Run time (s):         3.000000
  Queries per second:   330.000000

  Average Latency (s):  0.000301 (min 0.000017, max 0.004)
`;

  it('is read', () => {
    const rcodes = { NOERROR: 80, NXDOMAIN: 20 };
    expect(parseReport(text)).toEqual({
      completed: 990,
      lost: 10,
      queriesPerSecond: 330,
      latency: 301,
      rcodes,
    });
  });

  it('must have every figure', () => {
    expect(() => parseReport(text.replace('lost', 'astray'))).toThrow(DnsperfError);
  });
});

describe('arithmetic', () => {
  it('takes percentiles by the nearest rank, and the middle of an even count', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect([50, 99, 100].map((percent) => percentile(values, percent))).toEqual([50.5, 99, 100]);
    expect(summarize([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
    expect(() => percentile([], 50)).toThrow(RangeError);
  });

  it('meets a goal exactly or below', () => {
    const goal = { what: 'cost', limit: 1.35, unit: 'times' };
    expect([1.35, 1.36].map((value) => isMet({ ...goal, value }))).toEqual([true, false]);
  });
});

describe('turns', () => {
  it('go round', async () => {
    const order: string[] = [];
    const measure = async (subject: string) => order.push(subject);
    const turns = await takeTurns(['a', 'b'], 2, measure, () => {});
    expect(order).toEqual(['a', 'b', 'a', 'b']);
    expect(turns).toEqual([
      { subject: 'a', results: [1, 3] },
      { subject: 'b', results: [2, 4] },
    ]);
  });
});

describe.runIf(process.platform === 'linux')('processor time', () => {
  it('grows with work, in microseconds', () => {
    const before = readThreadTimes(process.pid);
    const began = process.cpuUsage();
    for (let used = process.cpuUsage(began); used.user + used.system < 50_000; )
      used = process.cpuUsage(began);
    const used = sumTimes(timesBetween(before, readThreadTimes(process.pid)));
    expect(used).toBeGreaterThan(5_000);
    expect(used).toBeLessThan(10_000_000);
  });
});

it('prints a table with the figures to the right', () => {
  const table = {
    title: 'Costs',
    columns: ['', 'us'],
    rows: [
      ['one', '2.5'],
      ['other', '12.5'],
    ],
  };
  expect(printTable(table)).toBe('Costs\n         us\n-----  ----\none     2.5\nother  12.5');
});
