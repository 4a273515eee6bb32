/**
 * The metrics of `prometheus` in a Corefile: CoreDNS's families, Portolan's, and on request former CoreDNS names and those of Go's run time.
 */
import type { PluginMetrics } from '../../chain/plugin-metrics.ts';
import type { FormerNames } from '../../config/server/former-names.ts';
import { writeFormerNames } from '../../observe/metrics/former-names.ts';
import { GoRuntimeMetrics } from '../../observe/metrics/go-runtime.ts';
import { Metrics } from '../../observe/metrics/render.ts';
import { writeMetrics } from '../../observe/metrics/text.ts';
import type { Stats } from '../../observe/stats.ts';

/** The parts of a server that metrics need. */
export interface CountingServer {
  readonly engine: { readonly metrics: PluginMetrics };
  readonly version: string;
  stats(): Stats;
}

export class CoreDnsMetrics {
  readonly #plugins: () => PluginMetrics;
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
  async render(): Promise<string> {
    const plugins = this.#plugins();
    const texts = [await plugins.render(), await this.#own.render()];
    if (this.#formerNames !== undefined)
      texts.push(writeFormerNames(this.#formerNames, await plugins.families()));
    if (this.#runtime !== undefined) texts.push(writeMetrics(this.#runtime.families()));
    return texts.map((text) => (text.endsWith('\n') ? text : `${text}\n`)).join('');
  }
}
