/**
 * The plugin `etcd` of a server block.
 */
import type { Clock } from '../../base/clock.ts';
import type { Handler } from '../../chain/handler.ts';
import type { PluginContext } from '../../contract/plugin.ts';
import { EtcdSource, type EtcdStats } from '../../sources/etcd/etcd-source.ts';
import { makeCoreDnsRules } from '../../sources/etcd/rules/rules.ts';
import { NO_OUTCOME } from '../../table/outcomes.ts';
import type { TableWriter } from '../../table/writer.ts';
import { isWithin, joinName } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import type { Zone } from '../../zone/zone.ts';
import { createEtcdHandler } from './etcd.ts';
import { showEtcdStats } from './etcd-metrics.ts';
import type { EtcdOptions } from './options.ts';

export interface EtcdContext extends Pick<PluginContext, 'clock' | 'log' | 'lookUp' | 'server' | 'metrics'> {
  readonly table: TableWriter;
}

/** Seconds. */
const SOA_TTL = 30;

export class EtcdPlugin {
  readonly handler: Handler;
  readonly #source: EtcdSource;
  readonly #table: TableWriter;
  readonly #hideStats: () => void;

  constructor(options: EtcdOptions, { table, clock, log, lookUp, server, metrics }: EtcdContext) {
    const { etcd, path, zones, fallthrough, snapshot } = options;
    this.#table = table;
    this.#source = new EtcdSource(
      {
        ...{ etcd, version: 3, prefix: path, rules: makeCoreDnsRules(options) },
        zones: zones.map((zone) => ({
          zone: makeZone(zone, clock),
          missing: missingOf(zone, fallthrough),
          any: 'ask',
        })),
        ...{ outcome: NO_OUTCOME, snapshot },
      },
      { table, clock, log },
    );
    this.#hideStats = showEtcdStats(metrics, { server, zones: zones.join(' ') }, () => this.stats());
    this.handler = createEtcdHandler({
      source: this.#source,
      zones: new Set(zones),
      fallthrough: new Set(fallthrough),
      hasSoaEverywhere: true,
      soaTtl: SOA_TTL,
      lookUp,
    });
  }

  async start(): Promise<void> {
    await this.#source.start();
  }

  proceed(): void {
    this.#source.proceed();
  }

  isReady(): boolean {
    return this.#source.isKnown;
  }

  stats(): EtcdStats {
    return this.#source.stats();
  }

  async stop(): Promise<void> {
    this.#hideStats();
    await this.#source.stop();
    const steps = this.#table.dropPublication(this.#source.publication);
    while (steps.next().done !== true) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** If only some of the zone's names fall through, the chain decides (`ask`). */
function missingOf(zone: NameKey, fallthrough: readonly NameKey[]): 'deny' | 'next' | 'ask' {
  if (fallthrough.some((domain) => isWithin(zone, domain))) return 'next';
  return fallthrough.some((domain) => isWithin(domain, zone)) ? 'ask' : 'deny';
}

function makeZone(apex: NameKey, clock: Clock): Zone {
  return {
    apex,
    soa: {
      kind: 'SOA',
      primary: joinName('ns', joinName('dns', apex)),
      mailbox: joinName('hostmaster', apex),
      serial: Math.floor(clock.now() / 1000) % 2 ** 32,
      refresh: 7200,
      retry: 1800,
      expire: 86_400,
      minimum: SOA_TTL,
    },
    negativeTtl: SOA_TTL,
    authoritativeNxdomain: true,
  };
}
