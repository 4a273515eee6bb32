/**
 * Zones whose names come from an etcd, as part of the block of a server that stands for SkyDNS.
 */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Chain, Handler } from '../chain/handler.ts';
import { namesWithin, type Questions } from '../chain/match.ts';
import type { EtcdZonesPlan } from '../config/server/engine-plan.ts';
import { createEtcdHandler } from '../handlers/etcd/etcd.ts';
import { createForwardLimit } from '../handlers/skydns/forward-limit.ts';
import { createLocalNameHandler } from '../handlers/skydns/local-name.ts';
import { EtcdSource, type EtcdStats } from '../sources/etcd/etcd-source.ts';
import type { TableWriter } from '../table/writer.ts';

export interface EtcdZonesDependencies {
  readonly table: TableWriter;
  readonly clock: Clock;
  readonly log: Log;
}

/** Given to servers whose plans have such zones: their code is loaded nowhere else. */
export type MakeEtcdZones = (plan: EtcdZonesPlan, dependencies: EtcdZonesDependencies) => EtcdZones;

export interface EtcdHandlers {
  readonly stubZones: Questions;
  readonly zones: readonly Handler[];
  readonly beforeForward: readonly Handler[];
}

export class EtcdZones {
  readonly source: EtcdSource;

  constructor(plan: EtcdZonesPlan, { table, clock, log }: EtcdZonesDependencies) {
    this.source = new EtcdSource(plan.source, { table, clock, log });
  }

  get isKnown(): boolean {
    return this.source.isKnown;
  }

  stats(): EtcdStats {
    return this.source.stats();
  }

  async start(): Promise<void> {
    await this.source.start();
  }

  proceed(): void {
    this.source.proceed();
  }

  async stop(): Promise<void> {
    await this.source.stop();
  }

  /** @param lookUp answers names outside the zones */
  handlers(plan: EtcdZonesPlan, lookUp: Chain): EtcdHandlers {
    const { fallthrough, soaTtl, localName, stubZones, minForwardedLabels } = plan;
    const zones = createEtcdHandler({
      source: this.source,
      zones: new Set(plan.source.zones.map(({ zone }) => zone.apex)),
      fallthrough: new Set(fallthrough),
      hasSoaEverywhere: false,
      soaTtl,
      lookUp,
    });
    return {
      stubZones: namesWithin(new Set(stubZones)),
      zones: localName === undefined ? [zones] : [createLocalNameHandler(localName), zones],
      beforeForward: [createForwardLimit(minForwardedLabels)],
    };
  }
}
