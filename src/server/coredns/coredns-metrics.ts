/**
 * The metrics of `prometheus` in a Corefile: CoreDNS's families, Portolan's, and on request former CoreDNS names.
 */
import type { PluginMetrics } from '../../chain/plugin-metrics.ts';
import type { FormerNames } from '../../config/server/former-names.ts';
import { writeFormerNames } from '../../observe/metrics/former-names.ts';
import { Metrics } from '../../observe/metrics/render.ts';
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

  /** @param formerNames the CoreDNS version whose metric names are shown beside the current ones */
  constructor(server: CountingServer, formerNames: FormerNames | undefined) {
    const { version } = server;
    this.#plugins = () => server.engine.metrics;
    this.#own = new Metrics({ version }, () => server.stats());
    this.#formerNames = formerNames;
  }

  /** Renders the metrics in Prometheus text format. */
  async render(): Promise<string> {
    const plugins = this.#plugins();
    const texts = [await plugins.render(), await this.#own.render()];
    if (this.#formerNames !== undefined)
      texts.push(writeFormerNames(this.#formerNames, await plugins.families()));
    return texts.map((text) => (text.endsWith('\n') ? text : `${text}\n`)).join('');
  }
}
