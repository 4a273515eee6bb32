/**
 * The dashboards of Grafana, from lists of their panels. Data source and job are variables.
 */

interface Panel {
  readonly title: string;
  readonly unit: 'reqps' | 'percentunit' | 's' | 'bytes' | 'short' | 'bool';
  /** Expressions with the legend of their series. */
  readonly queries: readonly (readonly [expression: string, legend: string])[];
  readonly kind?: 'stat' | 'state-timeline';
}

export interface GrafanaDashboard {
  readonly name: string;
  readonly title: string;
  readonly panels: readonly Panel[];
}

const J = 'job=~"$job"';
const W = '$__rate_interval';
const perSecond = (metric: string, by: string, labels = ''): string =>
  `sum by (${by}) (rate(${metric}{${J}${labels}}[${W}]))`;

export const DASHBOARDS: readonly GrafanaDashboard[] = [
  {
    name: 'portolan-overview',
    title: 'Portolan: overview',
    panels: [
      {
        title: 'Ready',
        unit: 'bool',
        kind: 'state-timeline',
        queries: [[`portolan_ready{${J}}`, '{{instance}}']],
      },
      {
        title: 'Failed answers',
        unit: 'percentunit',
        kind: 'stat',
        queries: [
          [
            `(${perSecond('portolan_dns_queries_total', 'job', ',rcode=~"SERVFAIL|REFUSED"')} or ${perSecond('coredns_dns_responses_total', 'job', ',rcode=~"SERVFAIL|REFUSED"')}) / (${perSecond('portolan_dns_queries_total', 'job')} or ${perSecond('coredns_dns_responses_total', 'job')})`,
            'failed',
          ],
        ],
      },
      {
        title: 'Answers by response code',
        unit: 'reqps',
        queries: [
          [perSecond('portolan_dns_queries_total', 'rcode'), '{{rcode}}'],
          [perSecond('coredns_dns_responses_total', 'rcode'), '{{rcode}}'],
        ],
      },
      {
        title: 'Answers by source',
        unit: 'reqps',
        queries: [
          [perSecond('portolan_dns_hits_total', 'name'), 'table: {{name}}'],
          [perSecond('portolan_cache_hits_total', 'kind'), 'cache: {{kind}}'],
          [perSecond('coredns_dns_responses_total', 'plugin'), '{{plugin}}'],
        ],
      },
      {
        title: 'Queries by instance',
        unit: 'reqps',
        queries: [[perSecond('portolan_udp_packets_total', 'instance'), '{{instance}}']],
      },
      {
        title: 'Time to answer (Corefiles), 50th and 99th percentile',
        unit: 's',
        queries: [
          [
            `histogram_quantile(0.5, ${perSecond('coredns_dns_request_duration_seconds_bucket', 'le')})`,
            '50 %',
          ],
          [
            `histogram_quantile(0.99, ${perSecond('coredns_dns_request_duration_seconds_bucket', 'le')})`,
            '99 %',
          ],
        ],
      },
      {
        title: 'Time of upstream servers, 99th percentile',
        unit: 's',
        queries: [
          [`histogram_quantile(0.99, ${perSecond('portolan_forward_duration_seconds_bucket', 'le')})`, 'all'],
          [
            `histogram_quantile(0.99, ${perSecond('coredns_proxy_request_duration_seconds_bucket', 'le, to')})`,
            '{{to}}',
          ],
        ],
      },
      {
        title: 'Upstream servers that are not well',
        unit: 'bool',
        kind: 'state-timeline',
        queries: [
          [
            `portolan_upstream_state{${J},state=~"failing|silent|down|looping"} == 1`,
            '{{instance}} {{upstream}} {{state}}',
          ],
        ],
      },
      { title: 'Age of the data', unit: 's', queries: [[`portolan_data_age_seconds{${J}}`, '{{instance}}']] },
      {
        title: 'State of watches',
        unit: 'bool',
        kind: 'state-timeline',
        queries: [[`portolan_watch_state{${J},state!="watching"} == 1`, '{{instance}} {{kind}} {{state}}']],
      },
      {
        title: 'Dropped',
        unit: 'reqps',
        queries: [
          [perSecond('portolan_udp_receive_buffer_dropped_total', 'instance'), 'kernel {{instance}}'],
          [perSecond('portolan_slow_path_dropped_total', 'instance'), 'slow path {{instance}}'],
          [perSecond('portolan_slow_path_expired_total', 'instance'), 'too late {{instance}}'],
          [perSecond('portolan_tcp_connections_rejected_total', 'instance'), 'TCP {{instance}}'],
        ],
      },
      {
        title: 'Settings rejected',
        unit: 'bool',
        kind: 'state-timeline',
        queries: [[`portolan_config_last_good{${J}}`, '{{instance}}']],
      },
    ],
  },
  {
    name: 'portolan-capacity',
    title: 'Portolan: capacity',
    panels: [
      {
        title: 'Processor time',
        unit: 'short',
        queries: [[`rate(process_cpu_seconds_total{${J}}[${W}])`, '{{instance}}']],
      },
      {
        title: 'Resident memory',
        unit: 'bytes',
        queries: [[`process_resident_memory_bytes{${J}}`, '{{instance}}']],
      },
      {
        title: 'Bytes of the answer table',
        unit: 'bytes',
        queries: [[`portolan_table_bytes{${J}}`, '{{instance}} {{kind}}']],
      },
      {
        title: 'Entries of the answer table',
        unit: 'short',
        queries: [[`portolan_table_entries{${J}}`, '{{instance}} {{kind}}']],
      },
      {
        title: 'Evictions from the cache',
        unit: 'reqps',
        queries: [[perSecond('portolan_cache_evictions_total', 'instance'), '{{instance}}']],
      },
      {
        title: 'TCP connections',
        unit: 'short',
        queries: [[`portolan_tcp_connections{${J}}`, '{{instance}}']],
      },
      {
        title: 'Queries in flight upstream',
        unit: 'short',
        queries: [[`portolan_forward_inflight_queries{${J}}`, '{{instance}}']],
      },
      { title: 'Reader threads', unit: 'short', queries: [[`portolan_udp_readers{${J}}`, '{{instance}}']] },
      { title: 'Objects', unit: 'short', queries: [[`portolan_objects{${J}}`, '{{instance}} {{kind}}']] },
      {
        title: 'Spread over replicas: the busiest against the mean',
        unit: 'short',
        queries: [
          [
            `max(rate(portolan_udp_packets_total{${J}}[${W}])) / avg(rate(portolan_udp_packets_total{${J}}[${W}]))`,
            'busiest',
          ],
        ],
      },
    ],
  },
];

const COLUMNS = 2;
const WIDTH = 12;
const HEIGHT = 8;
const DATA_SOURCE = { type: 'prometheus', uid: '$datasource' };

/** A dashboard for Grafana 10 and later, as it is imported or provisioned. */
export function dashboardFile({ name, title, panels }: GrafanaDashboard): string {
  const dashboard = {
    uid: name,
    title,
    tags: ['dns', 'portolan'],
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus' },
        {
          name: 'job',
          type: 'query',
          datasource: DATA_SOURCE,
          query: 'label_values(portolan_build_info, job)',
          includeAll: true,
          multi: true,
          refresh: 2,
        },
      ],
    },
    panels: panels.map(({ title: panelTitle, unit, queries, kind = 'timeseries' }, at) => ({
      id: at + 1,
      type: kind,
      title: panelTitle,
      datasource: DATA_SOURCE,
      gridPos: { h: HEIGHT, w: WIDTH, x: (at % COLUMNS) * WIDTH, y: Math.floor(at / COLUMNS) * HEIGHT },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      targets: queries.map(([expr, legendFormat], query) => ({
        refId: String.fromCharCode('A'.charCodeAt(0) + query),
        datasource: DATA_SOURCE,
        expr,
        legendFormat,
      })),
    })),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}
