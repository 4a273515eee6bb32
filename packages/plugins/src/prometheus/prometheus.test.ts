import { TYPE } from '@portolan/dns/types.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { addresses, makeQuery } from '@portolan/kernel/chain/testing/queries.ts';
import { expect, it } from 'vitest';
import { createPrometheusHandler } from './prometheus.ts';

it('counts requests, responses, sizes and times, and goes on counting in another block', async () => {
  const clock = new ManualClock();
  const metrics = new MetricRegistry();
  for (const answer of [addresses('a.', '10.0.0.1'), { kind: 'servfail' } as const]) {
    const { handle } = createPrometheusHandler({
      metrics,
      clock,
      findCountedPlugin: () => 'errors',
      computeQuerySize: () => 19,
      countsFurther: false,
    });
    await handle(makeQuery('a.', 'HINFO'), () => {
      clock.advance(3);
      return answer;
    });
  }
  const lines = (await metrics.render()).split('\n');
  const site = 'server="",zone="",view=""';
  expect(lines).toEqual(
    expect.arrayContaining([
      `coredns_dns_requests_total{${site},proto="udp",family="1",type="other"} 2`,
      `coredns_dns_responses_total{${site},rcode="NOERROR",plugin="errors"} 1`,
      `coredns_dns_responses_total{${site},rcode="SERVFAIL",plugin=""} 1`,
      `coredns_dns_request_duration_seconds_bucket{le="0.002",${site}} 0`,
      `coredns_dns_request_duration_seconds_bucket{le="0.004",${site}} 2`,
      `coredns_dns_response_size_bytes_sum{${site},proto="udp"} 36`,
    ]),
  );
});

it.each([
  [false, 0],
  [true, 1],
])('counts questions that plugins ask: %s', async (countsFurther, expected) => {
  const clock = new ManualClock();
  const metrics = new MetricRegistry();
  const options = {
    metrics,
    clock,
    findCountedPlugin: () => 'cache',
    computeQuerySize: () => 19,
    countsFurther,
  };
  const { handle } = createPrometheusHandler(options);
  const query = makeQuery('a.', 'AAAA');
  const further = query.furtherQuery({ ...query.question, type: TYPE.A });
  if (further !== undefined) await handle(further, () => addresses('a.', '10.0.0.1'));
  expect((await metrics.render()).match(/^coredns_dns_requests_total\{/gm) ?? []).toHaveLength(expected);
  expect(query.isDerived).toBe(!countsFurther);
});
