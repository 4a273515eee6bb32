import { toKey } from '@portolan/plugin';
import { makeContext, makePlugin, makeUse } from '@portolan/testing/uses.ts';
import { expect, it } from 'vitest';
import rrl from './plugin.ts';

function make(...lines: readonly string[]) {
  const context = makeContext();
  const { handler } = makePlugin(rrl, context, makeUse('rrl', ...lines));
  return { context, handler };
}

it('states its rates, and has no question of its own', () => {
  const { handler } = make(
    'responses-per-second 10',
    'nxdomains-per-second 0.5',
    'requests-per-second 100',
    'slip-ratio 2',
    'max-table-size 0',
    'window 2',
  );
  expect([...(handler?.questions.matches() ?? [])]).toEqual([]);
  expect(handler?.limits).toMatchObject({
    zones: [toKey('example.org.')],
    prefixLengths: { ipv4: 24, ipv6: 56 },
    requestsPerSecond: 100,
    responsesPerSecond: { response: 10, nodata: 10, nxdomain: 0.5, referral: 10, error: 10 },
    slip: 2,
    window: 2_000,
    maxCounts: 1,
    reportsOnly: false,
  });
});

it('counts what exceeds them', () => {
  const { handler, context } = make('responses-per-second 1', 'report-only');
  const { exceeded, reportsOnly } = handler?.limits ?? {};
  expect(reportsOnly).toBe(true);
  const site = { server: 'dns://:53', view: '' };
  for (const count of exceeded?.requests ?? []) count.add(site, 1);
  for (const count of exceeded?.responses ?? []) count.add(site, 1);
  expect([...context.counts.keys()]).toEqual([
    'coredns_rrl_requests_exceeded_total',
    'coredns_rrl_responses_exceeded_total',
  ]);
});
