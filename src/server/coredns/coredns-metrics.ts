/**
 * What `prometheus` of a Corefile shows: the families of CoreDNS, ours beside them, and where it is wished those of former
 * versions.
 */
import type { PluginMetrics } from '../../chain/plugin-metrics.ts';
import type { FormerNames } from '../../config/server/former-names.ts';
import { writeFormerNames } from '../../observe/metrics/former-names.ts';
import { Metrics } from '../../observe/metrics/render.ts';
import type { Stats } from '../../observe/stats.ts';

/** A server, as far as metrics need it. */
export interface CountingServer {
  readonly engine: { readonly metrics: PluginMetrics };
  readonly version: string;
  stats(): Stats;
}

export class CoreDnsMetrics {
  readonly #plugins: () => PluginMetrics;
  readonly #own: Metrics;
  readonly #formerNames: FormerNames | undefined;

  /** @param formerNames of which version names are shown beside those of today */
  constructor(server: CountingServer, formerNames: FormerNames | undefined) {
    const { version } = server;
    this.#plugins = () => server.engine.metrics;
    this.#own = new Metrics({ version }, () => server.stats());
    this.#formerNames = formerNames;
  }

  /** In the text format of Prometheus. */
  async render(): Promise<string> {
    const plugins = this.#plugins();
    const texts = [await plugins.render(), await this.#own.render()];
    if (this.#formerNames !== undefined)
      texts.push(writeFormerNames(this.#formerNames, await plugins.families()));
    return texts.map((text) => (text.endsWith('\n') ? text : `${text}\n`)).join('');
  }
}
