/**
 * Each alert under promtool: it fires for the series of a sick server, and no alert fires for those of a healthy one.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { ALERTS } from '../../scripts/generate/monitoring/alerts.ts';
import { describeWithTool } from '../support/tools.ts';

const RULES = 'deploy/chart/rules/portolan.rules.yaml';
const LABELS = 'job="portolan",instance="one"';
type Series = Readonly<Record<string, string>>;

const counter = (perMinute: number): string => `0+${perMinute}x600`;
const still = (value: number): string => `${value}+0x600`;

/** Of `serve`, and of a Corefile, as a scrape each minute has them. */
const SERVE: Series = {
  up: still(1),
  portolan_ready: still(1),
  'portolan_dns_queries_total{rcode="NOERROR"}': counter(60_000),
  'portolan_dns_queries_total{rcode="NXDOMAIN"}': counter(30_000),
  'portolan_dns_queries_total{rcode="SERVFAIL"}': counter(1),
  portolan_data_age_seconds: still(3),
  'portolan_watch_state{kind="services",state="waiting"}': still(0),
  'portolan_upstream_state{upstream="192.0.2.1:53",state="well"}': still(1),
  'portolan_upstream_state{upstream="192.0.2.1:53",state="down"}': still(0),
  'portolan_upstream_rtt_seconds{upstream="192.0.2.1:53"}': still(0.003),
  'portolan_upstream_loops_total{upstream="192.0.2.1:53"}': still(0),
  portolan_udp_receive_buffer_dropped_total: still(7),
  portolan_slow_path_dropped_total: still(0),
  portolan_slow_path_expired_total: still(0),
  portolan_tcp_connections_rejected_total: still(0),
  portolan_config_last_good: still(0),
  'portolan_stale_names{source="services"}': still(0),
  portolan_internal_errors_total: still(0),
  'portolan_rejected_items_total{source="kubernetes",reason="failed"}': still(0),
};
const COREFILE: Series = {
  up: still(1),
  portolan_ready: still(1),
  'coredns_dns_responses_total{rcode="NOERROR"}': counter(60_000),
  'coredns_dns_responses_total{rcode="NXDOMAIN"}': counter(30_000),
  'coredns_dns_responses_total{rcode="SERVFAIL"}': counter(1),
  'coredns_proxy_healthcheck_failures_total{proxy_name="forward",to="192.0.2.1:53"}': still(2),
  coredns_forward_healthcheck_broken_total: still(1),
  'coredns_proxy_request_duration_seconds_bucket{to="192.0.2.1:53",le="0.001"}': counter(1000),
  'coredns_proxy_request_duration_seconds_bucket{to="192.0.2.1:53",le="+Inf"}': counter(1000),
  coredns_reload_failed_total: still(1),
  portolan_nodecache_rules_missing: still(0),
  portolan_internal_errors_total: still(0),
};

/** What is different in a sick server. */
const SICK: Readonly<Record<string, readonly (readonly [healthy: Series, changes: Series])[]>> = {
  PortolanDown: [[SERVE, { up: still(0) }]],
  PortolanNotReady: [[SERVE, { portolan_ready: still(0) }]],
  PortolanErrorBudgetBurnsFast: [
    [SERVE, { 'portolan_dns_queries_total{rcode="SERVFAIL"}': counter(500) }],
    [COREFILE, { 'coredns_dns_responses_total{rcode="SERVFAIL"}': counter(500) }],
  ],
  PortolanErrorBudgetBurnsSlowly: [
    [SERVE, { 'portolan_dns_queries_total{rcode="REFUSED"}': counter(80) }],
    [COREFILE, { 'coredns_dns_responses_total{rcode="REFUSED"}': counter(80) }],
  ],
  PortolanServfail: [
    [SERVE, { 'portolan_dns_queries_total{rcode="SERVFAIL"}': counter(2000) }],
    [COREFILE, { 'coredns_dns_responses_total{rcode="SERVFAIL"}': counter(2000) }],
  ],
  PortolanDataOld: [[SERVE, { portolan_data_age_seconds: still(400) }]],
  PortolanDataVeryOld: [[SERVE, { portolan_data_age_seconds: still(2000) }]],
  PortolanNamesLost: [[SERVE, { 'portolan_stale_names{source="services"}': still(57) }]],
  PortolanWatchInterrupted: [[SERVE, { 'portolan_watch_state{kind="services",state="waiting"}': still(1) }]],
  PortolanUpstreamDown: [
    [SERVE, { 'portolan_upstream_state{upstream="192.0.2.1:53",state="down"}': still(1) }],
    [
      COREFILE,
      { 'coredns_proxy_healthcheck_failures_total{proxy_name="forward",to="192.0.2.1:53"}': counter(60) },
    ],
  ],
  PortolanUpstreamsAllDown: [
    [SERVE, { 'portolan_upstream_state{upstream="192.0.2.1:53",state="well"}': still(0) }],
    [COREFILE, { coredns_forward_healthcheck_broken_total: counter(60) }],
  ],
  PortolanUpstreamSlow: [
    [SERVE, { 'portolan_upstream_rtt_seconds{upstream="192.0.2.1:53"}': still(0.9) }],
    [
      COREFILE,
      {
        'coredns_proxy_request_duration_seconds_bucket{to="192.0.2.1:53",le="0.001"}': counter(10),
        'coredns_proxy_request_duration_seconds_bucket{to="192.0.2.1:53",le="2"}': counter(1000),
      },
    ],
  ],
  PortolanUpstreamLoop: [[SERVE, { 'portolan_upstream_loops_total{upstream="192.0.2.1:53"}': counter(1) }]],
  PortolanDrops: [
    [SERVE, { portolan_udp_receive_buffer_dropped_total: counter(5) }],
    [SERVE, { portolan_slow_path_dropped_total: counter(5) }],
    [SERVE, { portolan_slow_path_expired_total: counter(5) }],
    [SERVE, { portolan_tcp_connections_rejected_total: counter(5) }],
  ],
  PortolanConfigRejected: [
    [SERVE, { portolan_config_last_good: still(1) }],
    [COREFILE, { coredns_reload_failed_total: counter(1) }],
  ],
  PortolanNodeRulesMissing: [[COREFILE, { portolan_nodecache_rules_missing: still(1) }]],
  // 500 a second for eight hours, then 6,000.
  PortolanNxdomainStorm: [
    [SERVE, { 'portolan_dns_queries_total{rcode="NXDOMAIN"}': '0+30000x479 14400000+360000x20' }],
  ],
  PortolanInternalErrors: [
    [SERVE, { portolan_internal_errors_total: counter(1) }],
    [SERVE, { 'portolan_rejected_items_total{source="kubernetes",reason="failed"}': counter(1) }],
  ],
};
/** The end of the storm, within all series. */
const END = '8h15m';

function makeSeries(values: Series): readonly object[] {
  return Object.entries(values).map(([name, text]) => {
    const [, metric = name, labels = ''] = /^(\w+)\{(.*)\}$/.exec(name) ?? [];
    return { series: `${metric}{${[LABELS, labels].filter((each) => each !== '').join(',')}}`, values: text };
  });
}

async function runPromtool(values: Series, firing: string, isFiring: boolean): Promise<string> {
  const folder = await makeTemporaryFolder();
  copyFileSync(RULES, `${folder.path}/rules.yaml`);
  const query = {
    expr: `count(ALERTS{alertname=~"${firing}",alertstate="firing"}) > 0`,
    eval_time: END,
    exp_samples: isFiring ? [{ labels: '{}', value: 1 }] : [],
  };
  const tests = { interval: '1m', input_series: makeSeries(values), promql_expr_test: [query] };
  const file = { rule_files: ['rules.yaml'], evaluation_interval: '5m', tests: [tests] };
  await folder.write('test.yaml', stringify(file));
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'test.yaml'], {
    cwd: folder.path,
  });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

describeWithTool('promtool', 'the alerts', () => {
  it('are all tested here', () => {
    expect(Object.keys(SICK)).toEqual(ALERTS.map(({ name }) => name));
  });

  it.each([
    ['serve', SERVE],
    ['coredns', COREFILE],
  ])('leave a healthy %s alone', async (_program, values) => {
    expect(await runPromtool(values, '.*', false)).toBe('');
  });

  const cases = Object.entries(SICK).flatMap(([name, each]) => each.map((pair) => [name, ...pair] as const));
  it.each(cases)('%s fires', async (name, healthy, changes) => {
    expect(await runPromtool({ ...healthy, ...changes }, name, true)).toBe('');
  });
});
