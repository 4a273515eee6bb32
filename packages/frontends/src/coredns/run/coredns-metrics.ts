/**
 * The metrics of `prometheus` in a Corefile: CoreDNS's families, Portolan's, and on request former CoreDNS names and those of Go's run time.
 */
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { writeFamilies, writeSortedFamilies } from '@portolan/kernel/base/metrics/text-format.ts';
import { formerFamilies } from '@portolan/server/observe/metrics/former-names.ts';
import { GoRuntimeMetrics } from '@portolan/server/observe/metrics/go-runtime.ts';
import { Metrics } from '@portolan/server/observe/metrics/render.ts';
import type { Stats } from '@portolan/server/observe/stats.ts';
import type { FormerNames } from '@portolan/server/plan/former-names.ts';

/** The parts of a server that metrics need. */
export interface CountingServer {
  readonly engine: { readonly metrics: MetricRegistry };
  readonly version: string;
  stats(): Stats;
}

export class CoreDnsMetrics {
  readonly #plugins: () => MetricRegistry;
  readonly #own: Metrics;
  readonly #formerNames: FormerNames | undefined;
  readonly #runtime: GoRuntimeMetrics | undefined;

  /** @param formerNames the CoreDNS version whose metric names are shown beside the current ones */
  constructor(server: CountingServer, formerNames: FormerNames | undefined) {
    const { version } = server;
    this.#plugins = () => server.engine.metrics;
    this.#own = new Metrics({ version }, () => server.stats());
    this.#formerNames = formerNames;
    this.#runtime = formerNames && new GoRuntimeMetrics();
  }

  /** Renders the metrics in Prometheus text format. */
  render(): string {
    const plugins = this.#plugins().families();
    const texts = [writeFamilies(plugins), this.#own.render()];
    if (this.#formerNames !== undefined)
      texts.push(writeSortedFamilies(formerFamilies(this.#formerNames, plugins)));
    if (this.#runtime !== undefined) texts.push(writeSortedFamilies(this.#runtime.families()));
    return texts.join('');
  }
}
