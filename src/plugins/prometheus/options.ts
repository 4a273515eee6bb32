/**
 * Metrics of a server block, over HTTP.
 */
export interface PrometheusOptions {
  /** `host:port` or `:port`; several blocks may name the same. */
  readonly address: string;
  /** All metrics of the language's run time. */
  readonly hasRuntimeMetrics: boolean;
  /** The path of a web configuration file of Prometheus's exporter toolkit. */
  readonly tlsConfiguration: string | undefined;
}
