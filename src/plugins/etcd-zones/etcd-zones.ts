/**
 * Zones whose names come from an etcd, as in SkyDNS. The source outlives plans, and keeps the options of the first plan.
 */
import type { Handler } from '../../chain/handler.ts';
import type { PluginInspection } from '../../contract/inspection.ts';
import { Lasting } from '../../contract/lasting.ts';
import type { Plugin, PluginContext } from '../../contract/plugin.ts';
import { ANSWER_TABLE } from '../../contract/services.ts';
import { EtcdSource } from '../../sources/etcd/etcd-source.ts';
import { createEtcdHandler } from '../etcd/etcd.ts';
import { inspectEtcd } from './etcd-statistics.ts';
import type { EtcdZonesOptions } from './options.ts';

export class EtcdZones implements Plugin {
  readonly handler: Handler;
  readonly #lasting: Lasting<EtcdSource>;
  readonly #isFirst: boolean;

  constructor(options: EtcdZonesOptions, context: PluginContext, former: EtcdZones | undefined) {
    const { fallthrough, soaTtl, source } = options;
    this.#isFirst = former === undefined;
    this.#lasting = (former === undefined ? lastingSource(options, context) : former.#lasting).retain();
    const handler = createEtcdHandler({
      source: this.source,
      zones: new Set(source.zones.map(({ zone }) => zone.apex)),
      fallthrough: new Set(fallthrough),
      hasSoaEverywhere: false,
      soaTtl,
      lookUp: context.chain,
    });
    this.handler = { ...handler, derivesAnswers: true };
  }

  get source(): EtcdSource {
    return this.#lasting.value;
  }

  async start(): Promise<void> {
    if (this.#isFirst) await this.source.start();
  }

  proceed(): void {
    this.source.proceed();
  }

  isReady(): boolean {
    return this.source.isKnown;
  }

  inspect(): PluginInspection {
    return inspectEtcd({ isKnown: this.source.isKnown, ...this.source.stats() });
  }

  stop(): Promise<void> {
    return this.#lasting.release();
  }
}

function lastingSource(
  { source }: EtcdZonesOptions,
  { use, clock, log }: PluginContext,
): Lasting<EtcdSource> {
  const table = use(ANSWER_TABLE);
  return new Lasting(new EtcdSource(source, { table, clock, log }), (etcd) => etcd.stop());
}
