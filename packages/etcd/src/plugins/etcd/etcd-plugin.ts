/**
 * The plugin `etcd` of a server block. For SkyDNS, the source of its names outlives plans, and keeps the options of the first plan.
 */
import { isWithin, joinName } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Losses } from '@portolan/kernel/base/losses.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import type { PluginInspection } from '@portolan/kernel/contract/inspection.ts';
import type { Plugin, PluginContext } from '@portolan/kernel/contract/plugin.ts';
import { RefCounted } from '@portolan/kernel/contract/ref-counted.ts';
import { NO_OUTCOME } from '@portolan/kernel/table/outcomes.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import type { Zone } from '@portolan/kernel/zone/zone.ts';
import { EtcdSource, type EtcdSourceSettings, type EtcdStats } from '../../source/etcd-source.ts';
import { makeCoreDnsRules } from '../../source/rules/rules.ts';
import { createEtcdHandler } from './etcd.ts';
import { showEtcdStats } from './etcd-metrics.ts';
import { inspectEtcd } from './etcd-statistics.ts';
import type { CoreDnsEtcdOptions, EtcdOptions, SkyDnsEtcdOptions } from './options.ts';
import { withSkyDnsNames } from './skydns-names.ts';

export interface EtcdContext extends Pick<PluginContext, 'clock' | 'log' | 'lookUp' | 'server' | 'metrics'> {
  readonly table: TableWriter;
  /** Judges what etcd lacks. Default: it goes at once. */
  readonly losses?: Losses;
}

/** Seconds. */
const SOA_TTL = 30;

export class EtcdPlugin implements Plugin {
  readonly handler: Handler;
  readonly #kind: EtcdOptions['kind'];
  readonly #lasting: RefCounted<EtcdSource>;
  readonly #isFirst: boolean;
  readonly #hideStats: () => void;

  constructor(options: EtcdOptions, context: EtcdContext, former?: EtcdPlugin) {
    const { kind, fallthrough } = options;
    const { source, soaTtl } = kind === 'skydns' ? options : readNames(options, context.clock);
    this.#kind = kind;
    this.#isFirst = former === undefined;
    this.#lasting = (former === undefined ? openSource(kind, source, context) : former.#lasting).retain();
    const zones = source.zones.map(({ zone }) => zone.apex);
    const handler = createEtcdHandler({
      source: this.source,
      zones: new Set(zones),
      fallthrough: new Set(fallthrough),
      hasSoaEverywhere: kind === 'coredns',
      soaTtl,
      lookUp: context.lookUp,
    });
    this.handler =
      kind === 'skydns' ? { ...withSkyDnsNames(handler, zones, options), derivesAnswers: true } : handler;
    this.#hideStats = kind === 'skydns' ? () => {} : this.#showStats(context, zones);
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

  stats(): EtcdStats {
    return this.source.stats();
  }

  /** The health and the metrics of `skydns` show the state of etcd; under a Corefile the plugin's own metrics do. */
  inspect(): PluginInspection {
    return this.#kind === 'skydns' ? inspectEtcd({ isKnown: this.source.isKnown, ...this.stats() }) : {};
  }

  async stop(): Promise<void> {
    this.#hideStats();
    await this.#lasting.release();
  }

  #showStats({ metrics, server }: EtcdContext, zones: readonly NameKey[]): () => void {
    return showEtcdStats(metrics, { server, zones: zones.join(' ') }, () => this.stats());
  }
}

function openSource(
  kind: EtcdOptions['kind'],
  settings: EtcdSourceSettings,
  { table, losses, clock, log }: EtcdContext,
): RefCounted<EtcdSource> {
  return new RefCounted(new EtcdSource(settings, { table, losses, clock, log }), async (source) => {
    await source.stop();
    // That of SkyDNS ends with the process, while its view still shows the names.
    if (kind === 'skydns') return;
    const steps = table.dropPublication(source.publication);
    while (steps.next().done !== true) await new Promise((resolve) => setImmediate(resolve));
  });
}

function readNames(options: CoreDnsEtcdOptions, clock: Clock): Pick<SkyDnsEtcdOptions, 'source' | 'soaTtl'> {
  const { etcd, path, zones, fallthrough, snapshot } = options;
  const source: EtcdSourceSettings = {
    etcd,
    version: 3,
    prefix: path,
    rules: makeCoreDnsRules(options),
    zones: zones.map((zone) => ({
      zone: makeZone(zone, clock),
      missing: chooseMissing(zone, fallthrough),
      any: 'ask',
    })),
    outcome: NO_OUTCOME,
    snapshot,
  };
  return { source, soaTtl: SOA_TTL };
}

/** If only some of the zone's names fall through, the chain decides (`ask`). */
function chooseMissing(zone: NameKey, fallthrough: readonly NameKey[]): 'deny' | 'next' | 'ask' {
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
