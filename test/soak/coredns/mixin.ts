/**
 * The metric families and labels in the queries of coredns-mixin's rules and dashboards, as recorded and as of today.
 */
const OF = 'k8s_app="kube-dns"';

const rate = (family: string, by: string, more = '') => `sum(rate(${family}{${OF}${more}}[5m])) by (${by})`;
const quantile = (share: number, family: string, by: string) =>
  `histogram_quantile(${share}, ${rate(`${family}_bucket`, `${by}, le`)})`;
const makeShareExpression = (family: string) =>
  `sum(rate(${family}{${OF},rcode="SERVFAIL"}[5m])) / sum(rate(${family}{${OF}}[5m]))`;

/** Those that show something while queries are answered from the cluster, the cache and upstream. */
export const SHOWN: readonly string[] = [
  `sum(up{${OF}})`,
  `sum(coredns_panics_total{${OF}})`,
  rate('coredns_dns_responses_total', 'rcode'),
  rate('coredns_dns_responses_total', 'plugin'),
  rate('coredns_dns_requests_total', 'type'),
  rate('coredns_dns_requests_total', 'zone'),
  rate('coredns_dns_requests_total', 'proto'),
  quantile(0.99, 'coredns_dns_request_duration_seconds', 'server, zone'),
  quantile(0.99, 'coredns_dns_request_size_bytes', 'server, zone, proto'),
  quantile(0.5, 'coredns_dns_response_size_bytes', 'server, zone, proto'),
  `count(sum(coredns_plugin_enabled{${OF}}) by (name))`,
  `sum(coredns_cache_hits_total{${OF}}) / (sum(coredns_cache_misses_total{${OF}}) + sum(coredns_cache_hits_total{${OF}}))`,
  rate('coredns_cache_hits_total', 'type'),
  rate('coredns_cache_misses_total', 'pod'),
  `sum(coredns_cache_entries{${OF}}) by (type)`,
  `process_resident_memory_bytes{${OF}}`,
  `rate(process_cpu_seconds_total{${OF}}[5m])`,
  `go_goroutines{${OF}}`,
  `coredns_build_info{${OF}}`,
  // Since 1.11.
  rate('coredns_proxy_request_duration_seconds_count', 'to', ',proxy_name="forward"'),
  rate('coredns_proxy_request_duration_seconds_count', 'rcode'),
  quantile(0.99, 'coredns_proxy_request_duration_seconds', 'to'),
  // Until 1.10.
  rate('coredns_forward_requests_total', 'to'),
  rate('coredns_forward_responses_total', 'rcode'),
  quantile(0.99, 'coredns_forward_request_duration_seconds', 'to'),
];

/** With a result while changes of headless services arrive. */
export const SHOWN_OF_CHANGES = [
  quantile(0.99, 'coredns_kubernetes_dns_programming_duration_seconds', 'service_kind'),
];

/** Alerts: none of them has a result while all is well. */
export const ALERTS: readonly string[] = [
  `absent(up{${OF}} == 1)`,
  `${quantile(0.99, 'coredns_dns_request_duration_seconds', 'server, zone')} > 4`,
  `${makeShareExpression('coredns_dns_responses_total')} > 0.01`,
];

/** Those that have one when no upstream server answers, by the names of today and of 1.10. */
export const ALERTS_WITHOUT_UPSTREAM: readonly string[] = [
  `sum(rate(coredns_proxy_healthcheck_failures_total{${OF}}[5m])) by (to) > 0`,
  `sum(rate(coredns_forward_healthcheck_failures_total{${OF}}[5m])) by (to) > 0`,
  `sum(rate(coredns_forward_healthcheck_broken_total{${OF}}[5m])) > 0`,
  `${makeShareExpression('coredns_dns_responses_total')} > 0.03`,
];
