/**
 * Metrics of a server block, over HTTP.
 */
export interface PrometheusOptions {
  /** `host:port` or `:port`; several blocks may name the same. */
  readonly address: string;
  /** Whether all metrics of the Go run time are shown. */
  readonly hasRuntimeMetrics: boolean;
  /** The path of a web configuration file of Prometheus's exporter toolkit. */
  readonly tlsConfiguration: string | undefined;
}
