/**
 * The alerts: one list, from which the rules for Prometheus and the runbook page are made.
 *
 * All expressions select the job `portolan`. They hold for `serve` and for Corefiles: the first have `portolan_dns_queries_total`, the
 * second `coredns_dns_responses_total`.
 */

export interface Alert {
  readonly name: string;
  readonly expression: string;
  /** How long it must hold, as Prometheus writes it. */
  readonly after: string;
  readonly severity: 'warning' | 'critical';
  /** One sentence, with labels of the series as `{{ $labels.NAME }}`. */
  readonly summary: string;
  readonly meaning: string;
  /** Possible ones; empty: those of an alert that `meaning` or `remedies` name. */
  readonly causes: readonly string[];
  /** Whether it is about caches of nodes. Default: about servers of the cluster. */
  readonly ofNodes?: true;
  /** A pattern of the metrics that show more. */
  readonly shows: string;
  readonly remedies: readonly string[];
}

export interface RecordingRule {
  readonly record: string;
  readonly expression: string;
}

const JOB = '{job="portolan"}';
const of = (labels: string): string => `{job="portolan",${labels}}`;
/** Of one kind of front end, and else of the other. */
const rate = (labels: string, window: string): string =>
  `sum by (job) (rate(portolan_dns_queries_total${labels}[${window}])) or ` +
  `sum by (job) (rate(coredns_dns_responses_total${labels}[${window}]))`;
const WINDOWS = ['5m', '30m', '1h', '6h'] as const;
const share = (window: (typeof WINDOWS)[number]): string => `job:portolan_failed_share:${window}`;
/** Of all answers that may fail: 0.01 %. */
const BUDGET = '0.0001';

export const RECORDING_RULES: readonly RecordingRule[] = [
  { record: 'job:portolan_nxdomain:rate5m', expression: rate(of('rcode="NXDOMAIN"'), '5m') },
  ...WINDOWS.map((window) => ({
    record: share(window),
    expression: `((${rate(of('rcode=~"SERVFAIL|REFUSED"'), window)}) or on (job) 0 * (${rate(JOB, window)})) / on (job) (${rate(JOB, window)})`,
  })),
];

const burn = (short: (typeof WINDOWS)[number], long: (typeof WINDOWS)[number], factor: string): string =>
  `${share(short)} > ${factor} * ${BUDGET} and on (job) ${share(long)} > ${factor} * ${BUDGET}`;

export const ALERTS: readonly Alert[] = [
  {
    name: 'PortolanDown',
    expression: `absent(up${JOB} == 1)`,
    after: '5m',
    severity: 'critical',
    summary: 'No pod of Portolan can be scraped.',
    meaning:
      'No server of the job answers Prometheus. Names of the cluster do not resolve if none answers DNS either.',
    causes: [
      'All pods are gone, pending or crashing.',
      'The scrape targets are wrong: another job, port or label.',
      'A network policy keeps Prometheus out.',
    ],
    shows: '^portolan_(build_info|ready)',
    remedies: [
      'Look at the events and logs of the pods.',
      'If the pods run, compare the job of the rules with that of the targets.',
      'If an update broke them, `kubectl rollout undo`.',
    ],
  },
  {
    name: 'PortolanNotReady',
    expression: `portolan_ready${JOB} == 0`,
    after: '5m',
    severity: 'warning',
    summary: '{{ $labels.instance }} is not ready.',
    meaning: 'The server runs, and the Service does not send it queries. Other replicas answer.',
    causes: [
      'The API server cannot be reached, or does not permit a list.',
      'The Corefile or the ConfigMap cannot be used.',
      'The pod is stopping.',
    ],
    shows: '^portolan_(ready|watch_state|config_last_good)',
    remedies: ['Read the readiness page: it gives the reason.'],
  },
  {
    name: 'PortolanErrorBudgetBurnsFast',
    expression: burn('5m', '1h', '14.4'),
    after: '2m',
    severity: 'critical',
    summary: 'More than 0.14 % of all queries fail.',
    meaning:
      'At this rate the failures of a month are used up in two days. SERVFAIL and REFUSED count; NXDOMAIN does not.',
    causes: [
      'The upstream servers do not answer: see PortolanUpstreamsAllDown.',
      'The API server has not been read since the start: see PortolanNotReady.',
      'A plugin or a zone file fails: the log names it.',
    ],
    shows: '^(portolan_dns_queries_total|coredns_dns_responses_total).*(SERVFAIL|REFUSED)',
    remedies: [
      'Ask for a name of the cluster and one outside: which fails?',
      'Compare the replicas: one that fails alone can be deleted.',
    ],
  },
  {
    name: 'PortolanErrorBudgetBurnsSlowly',
    expression: burn('30m', '6h', '6'),
    after: '15m',
    severity: 'warning',
    summary: 'More than 0.06 % of all queries fail, for hours.',
    meaning: 'At this rate the failures of a month are used up in five days.',
    causes: [],
    shows: '^(portolan_dns_queries_total|coredns_dns_responses_total).*(SERVFAIL|REFUSED)',
    remedies: [
      'As for PortolanErrorBudgetBurnsFast.',
      'Look for one upstream server or one domain that fails.',
    ],
  },
  {
    name: 'PortolanServfail',
    expression: `${share('5m')} > 0.01`,
    after: '10m',
    severity: 'warning',
    summary: 'More than 1 % of all queries fail.',
    meaning: 'Clients ask each failed query again, at the next server or after seconds.',
    causes: [],
    shows: '^(portolan_dns_queries_total|coredns_dns_responses_total).*(SERVFAIL|REFUSED)',
    remedies: ['As for PortolanErrorBudgetBurnsFast.'],
  },
  {
    name: 'PortolanDataOld',
    expression: `portolan_data_age_seconds${JOB} > 300`,
    after: '2m',
    severity: 'warning',
    summary: '{{ $labels.instance }} has not heard from the API server for {{ $value | humanizeDuration }}.',
    meaning:
      'The server answers what it last knew. New Services do not resolve, and addresses of deleted pods still do.',
    causes: [
      'The API server is down or overloaded.',
      'The way from the node of the pod to the API server is broken.',
      'The token of the pod is refused.',
    ],
    shows: '^portolan_(data_age_seconds|watch_)',
    remedies: ['If only one replica is old, delete its pod; else look at the API server.'],
  },
  {
    name: 'PortolanDataVeryOld',
    expression: `portolan_data_age_seconds${JOB} > 1800`,
    after: '2m',
    severity: 'critical',
    summary: '{{ $labels.instance }} has not heard from the API server for {{ $value | humanizeDuration }}.',
    meaning: 'As PortolanDataOld, for more than half an hour.',
    causes: [],
    shows: '^portolan_(data_age_seconds|watch_)',
    remedies: [],
  },
  {
    name: 'PortolanNamesLost',
    expression: `sum by (job, source) (portolan_stale_names${JOB}) > 0`,
    after: '0m',
    severity: 'critical',
    summary: '{{ $value }} names of {{ $labels.source }} were lost at once and are answered as stale.',
    meaning:
      'A source has lost half of its names or more within half a minute. They are answered for 10 minutes more, as stale, then they are gone.',
    causes: [
      'The API server or etcd was restored from a backup, or gives an empty list.',
      'A zone file or a transfer was cut, or a folder is not mounted.',
      'Many services were deleted on purpose.',
    ],
    shows: '^portolan_(stale_names|lost_names)',
    remedies: [
      'Run `portolan doctor`: it names the source, and the time that is left.',
      'Repair the source. The names are current again as soon as it has them.',
      'If they were deleted on purpose, run `portolan control accept` in each replica.',
    ],
  },
  {
    name: 'PortolanWatchInterrupted',
    expression: `portolan_watch_state${of('state="waiting"')} == 1`,
    after: '5m',
    severity: 'critical',
    summary: '{{ $labels.instance }} cannot list or watch {{ $labels.kind }}.',
    meaning:
      'The API server refuses, fails or cannot be reached. Names are as old as the last list; a server that starts now gets none.',
    causes: [
      'The ClusterRole or its binding was changed or deleted.',
      'A new setting needs a right: `pods verified` needs pods.',
      'The token of the pod is refused.',
      'The API server is down.',
    ],
    shows: '^portolan_watch_(state|age)',
    remedies: [
      'Read the readiness page or the log: both give the reason for each kind.',
      'If a right is missing, the log has the rule. Apply the manifests or the chart once more.',
    ],
  },
  {
    name: 'PortolanUpstreamDown',
    expression: `portolan_upstream_state${of('state="down"')} == 1 or increase(coredns_proxy_healthcheck_failures_total${JOB}[5m]) > 2`,
    after: '5m',
    severity: 'warning',
    summary: '{{ $labels.instance }}: upstream server {{ $labels.upstream }}{{ $labels.to }} is down.',
    meaning: 'The server does not answer. Other servers of the same route are asked.',
    causes: [
      'The server is down, or a firewall drops port 53 between the nodes and the server.',
      'The address in `upstreamNameservers`, `stubDomains` or `forward` is wrong.',
    ],
    shows: '^(portolan_upstream_(state|results)|coredns_proxy_healthcheck)',
    remedies: ['Ask the server from the node: `dig @ADDRESS example.com`, with and without `+tcp`.'],
  },
  {
    name: 'PortolanUpstreamsAllDown',
    expression: `sum by (job, instance) (portolan_upstream_state${of('state=~"well|failing|untried|silent"')}) == 0 or increase(coredns_forward_healthcheck_broken_total${JOB}[2m]) > 0`,
    after: '1m',
    severity: 'critical',
    summary: '{{ $labels.instance }}: all upstream servers are down.',
    meaning:
      'Names outside the cluster are answered from the cache, or with SERVFAIL. Names of the cluster are not affected.',
    causes: ['As for PortolanUpstreamDown.', 'The node has no way out.'],
    shows: '^(portolan_upstream_(state|results)|coredns_(proxy|forward)_healthcheck)',
    remedies: [
      'Compare the replicas: if only one is affected, look at its node.',
      'Add a second upstream server in another network.',
    ],
  },
  {
    name: 'PortolanUpstreamSlow',
    expression: `portolan_upstream_rtt_seconds${JOB} > 0.5 or histogram_quantile(0.99, sum by (job, instance, to, le) (rate(coredns_proxy_request_duration_seconds_bucket${JOB}[5m]))) > 0.5`,
    after: '10m',
    severity: 'warning',
    summary:
      '{{ $labels.instance }}: upstream server {{ $labels.upstream }}{{ $labels.to }} takes {{ $value | humanizeDuration }}.',
    meaning: 'Names that are not in the cache are slow.',
    causes: [
      'The server is overloaded, or far away.',
      'It waits for another server that does not answer.',
      'Packets are lost on the way.',
    ],
    shows: '^(portolan_upstream_rtt|coredns_proxy_request_duration_seconds_(sum|count))',
    remedies: ['Ask the server from the node, several times, for a name that it has in its cache.'],
  },
  {
    name: 'PortolanUpstreamLoop',
    expression: `increase(portolan_upstream_loops_total${JOB}[15m]) > 0`,
    after: '0m',
    severity: 'warning',
    summary: '{{ $labels.instance }}: upstream server {{ $labels.upstream }} sends queries back.',
    meaning: 'The upstream server forwards to Portolan. Portolan no longer asks it.',
    causes: ['The resolv.conf of the node names the DNS of the cluster, or a stub such as 127.0.0.53.'],
    shows: '^portolan_upstream_loops_total',
    remedies: ['Give the address of a server outside the cluster, as `upstreamNameservers` or in `forward`.'],
  },
  {
    name: 'PortolanDrops',
    expression: `rate(portolan_udp_receive_buffer_dropped_total${JOB}[5m]) > 0 or rate(portolan_slow_path_dropped_total${JOB}[5m]) > 0 or rate(portolan_slow_path_expired_total${JOB}[5m]) > 0 or rate(portolan_tcp_connections_rejected_total${JOB}[5m]) > 0`,
    after: '5m',
    severity: 'warning',
    summary: '{{ $labels.instance }} drops queries.',
    meaning: 'Clients wait for their timeout, usually 5 seconds, and ask again.',
    causes: [
      'The pod has too little processor time: a CPU limit, or a busy node.',
      'One client floods.',
      'Too few replicas.',
    ],
    shows:
      '^portolan_(udp_(receive_buffer_dropped|shed|floods)|slow_path_(dropped|expired)|tcp_connections_rejected)',
    remedies: ['Remove the CPU limit.', 'Add replicas.', 'Limit clients with `--rate-limit`.'],
  },
  {
    name: 'PortolanConfigRejected',
    expression: `portolan_config_last_good${JOB} == 1 or increase(coredns_reload_failed_total${JOB}[10m]) > 0`,
    after: '1m',
    severity: 'warning',
    summary: '{{ $labels.instance }} serves former settings: the new ones are invalid.',
    meaning: 'The ConfigMap was changed, and cannot be used. A pod that starts now may fail.',
    causes: ['A mistake in the ConfigMap or the Corefile.'],
    shows: '^(portolan_config_|coredns_reload_)',
    remedies: [
      'The log names the key or the line, and the remedy.',
      'Check the Corefile: `portolan corefile check`.',
    ],
  },
  {
    name: 'PortolanNodeRulesMissing',
    ofNodes: true,
    expression: `portolan_nodecache_rules_missing${JOB} == 1`,
    after: '5m',
    severity: 'warning',
    summary: '{{ $labels.instance }}: the cache of the node has no packet filter rules.',
    meaning:
      'Queries of pods to the address of the Service pass the cache of their node by. The Service answers them, as without a cache.',
    causes: [
      'A program of the image or the node fails: `nft`, `iptables` or `ip`.',
      'The container lacks `NET_ADMIN`, or `NET_RAW` on nodes with the legacy variant of iptables.',
      'A firewall of the node drops the packets of pods.',
      'The cache does not answer at its addresses.',
    ],
    shows: '^(portolan_nodecache_rules|coredns_nodecache_setup_errors_total)',
    remedies: [
      'Read the reason: by `portolan doctor` in the pod, its health page, or `rules not set` in its log.',
      'Examine the node with `portolan doctor --on-node`.',
    ],
  },
  {
    name: 'PortolanNxdomainStorm',
    expression:
      'job:portolan_nxdomain:rate5m > 1000 and on (job) job:portolan_nxdomain:rate5m > 5 * (job:portolan_nxdomain:rate5m offset 1h)',
    after: '5m',
    severity: 'warning',
    summary: '{{ $value | humanize }} names a second do not exist, five times as many as an hour ago.',
    meaning: 'Something asks for many names that do not exist.',
    causes: [
      'A Service was deleted or renamed, and its clients go on.',
      'A new program asks for outside names, which go through the search path first.',
      'Malware, or a scan.',
    ],
    shows: '^(portolan_dns_queries_total|coredns_dns_responses_total).*NXDOMAIN',
    remedies: [
      'Switch the query log on for a minute, and count names and clients.',
      'Set `ndots: 2` for programs that ask for outside names.',
    ],
  },
  {
    name: 'PortolanInternalErrors',
    expression: `increase(portolan_internal_errors_total${JOB}[1h]) > 0 or increase(portolan_rejected_items_total${of('reason="failed"')}[1h]) > 0`,
    after: '0m',
    severity: 'warning',
    summary: '{{ $labels.instance }} met a defect of its own.',
    meaning: 'A query was answered SERVFAIL, or an object was left out, because the program failed at it.',
    causes: ['A defect of Portolan.'],
    shows: '^portolan_(internal_errors_total|rejected_items_total)',
    remedies: ['Report it with the log lines of level ERROR.'],
  },
];
