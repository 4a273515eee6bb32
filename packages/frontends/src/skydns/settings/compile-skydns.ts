/**
 * Compiles the settings of SkyDNS, with the current data of etcd, to the plan of a server.
 */
import { joinName, parseKey, toKey } from '@portolan/dns/name.ts';
import { DEFAULT_UDP_SIZE } from '@portolan/dns/response-size.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { SkyDnsEtcdOptions } from '@portolan/etcd/plugins/etcd/options.ts';
import { etcd } from '@portolan/etcd/plugins/etcd/plugin.ts';
import { makeSkyDnsRules } from '@portolan/etcd/source/rules/rules.ts';
import { type PluginUse, usePlugin } from '@portolan/kernel/contract/plugin-use.ts';
import { SERVE_CACHING } from '@portolan/kernel/forward/caching/caching-rules.ts';
import {
  DEFAULT_FORWARD_PLAN,
  defaultRule,
  type ForwardPlan,
  type ForwardRule,
} from '@portolan/kernel/forward/forward-plan.ts';
import type { UpstreamAddress } from '@portolan/kernel/forward/upstream-address.ts';
import { computeCacheOctets } from '@portolan/kernel/plan/cache-octets.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import type { Zone } from '@portolan/kernel/zone/zone.ts';
import { OUTCOME } from '@portolan/kubernetes/names/outcomes.ts';
import { forwardLimit } from '@portolan/plugins/forward-limit/plugin.ts';
import {
  type LastOptions,
  writeFirstPlugins,
  writeLastPlugins,
  writeLocalNames,
  writePlainEngine,
  writePlainListeners,
} from '@portolan/server/plan/plain-block.ts';
import type { HttpPlan, ServerPlan } from '@portolan/server/plan/server-plan.ts';
import { makeServeLocalSettings } from '../../serve/settings/local-settings.ts';
import type { SkyDnsSettings } from './skydns-settings.ts';

/** Followed inputs beside the settings. */
export interface SkyDnsInputs {
  /** The nameservers of resolv.conf. */
  readonly systemServers: readonly UpstreamAddress[];
  readonly stubZones: readonly StubZone[];
  /** Plugins of `--blocks-extra`. Default: none. */
  readonly extra?: readonly PluginUse[];
}

export interface StubZone {
  readonly domain: NameKey;
  readonly servers: readonly UpstreamAddress[];
}

/** Properties of the machine. */
export interface SkyDnsMachine {
  readonly udpReaders: number;
  /** Seconds since the epoch. */
  readonly now: number;
}

const REVERSE_ZONES = ['in-addr.arpa.', 'ip6.arpa.'].map(parseKey);
/** At least; `rcache` may ask for more. */
const CACHE_OCTETS = 16 * 2 ** 20;

export function compileSkyDns(
  settings: SkyDnsSettings,
  inputs: SkyDnsInputs,
  machine: SkyDnsMachine,
): ServerPlan {
  const { address, port } = settings.listen;
  return {
    engine: compileEngine(settings, inputs, machine.now),
    listen: { groups: [writePlainListeners({ addresses: [address], port })] },
    udpReaders: machine.udpReaders,
    takeover: false,
    objects: undefined,
    queryLines: 'server',
    queryLog: settings.queryLog,
    http: compileHttp(settings),
    endpoints: [],
    lameduck: 0,
    keepsStatistics: settings.keepsStatistics,
    history: settings.history,
  };
}

function compileHttp({ healthzPort, metrics }: SkyDnsSettings): HttpPlan | undefined {
  if (healthzPort === 0 && metrics === undefined) return undefined;
  // With metrics only, the health server need not be public.
  const address = healthzPort === 0 ? '127.0.0.1' : undefined;
  return { health: { address, port: healthzPort, cache: false }, skyDnsMetrics: metrics };
}

function compileEngine(settings: SkyDnsSettings, inputs: SkyDnsInputs, now: number): EnginePlan {
  const { cacheEntries, cacheTtl, roundRobin, noRecursion, ndots } = settings;
  const isBounded = cacheEntries > 0;
  const last: LastOptions = {
    cache: {
      kind: 'own',
      caching: isBounded ? { ...SERVE_CACHING, maxCacheTtl: cacheTtl } : SERVE_CACHING,
      serveStale: undefined,
    },
    forward: compileForward(settings, inputs),
    filteredTypes: new Set(),
  };
  const minLabels = noRecursion ? Number.POSITIVE_INFINITY : ndots;
  return writePlainEngine({
    clients: undefined,
    plugins: [
      ...writeFirstPlugins({ identifies: true, ttl: 0, cacheSize: cacheEntries }, inputs.extra),
      writeLocalNames(makeServeLocalSettings([], undefined, 0, {}), undefined),
      usePlugin(etcd, compileZones(settings, inputs, now)),
      ...writeLastPlugins(last, [usePlugin(forwardLimit, { minLabels })]),
    ],
    responses: { recursionAvailable: true, rotatesAddresses: roundRobin, domain: undefined },
    cache: {
      octets: Math.max(CACHE_OCTETS, computeCacheOctets(cacheEntries)),
      entries: isBounded ? cacheEntries : Number.POSITIVE_INFINITY,
    },
    udpSize: DEFAULT_UDP_SIZE,
    losses: settings.losses,
  });
}

function compileForward(settings: SkyDnsSettings, { systemServers, stubZones }: SkyDnsInputs): ForwardPlan {
  const { nameservers = systemServers, rotatesServers, readTimeout } = settings;
  const stubs = stubZones.map(
    ({ domain, servers }): ForwardRule => ({
      names: [{ kind: 'domain', name: domain }],
      target: {
        kind: 'servers',
        servers: servers.map((address) => ({ address, queriesPerSecond: undefined })),
      },
    }),
  );
  const { timing } = DEFAULT_FORWARD_PLAN;
  return {
    ...DEFAULT_FORWARD_PLAN,
    rules: [...(nameservers.length === 0 ? [] : [defaultRule(nameservers)]), ...stubs],
    policy: rotatesServers ? 'random' : 'sequential',
    timing: { ...timing, maxTimeout: Math.max(timing.minTimeout, Math.min(readTimeout, timing.deadline)) },
  };
}

function compileZones(settings: SkyDnsSettings, { stubZones }: SkyDnsInputs, now: number): SkyDnsEtcdOptions {
  const { version, prefix, snapshot, domain, ttl, priority, local } = settings;
  const makeZoneAt = (apex: NameKey) => makeZone(apex, settings, now);
  return {
    kind: 'skydns',
    source: {
      etcd: settings.etcd,
      version,
      prefix,
      snapshot,
      outcome: OUTCOME.zone,
      rules: makeSkyDnsRules({ ttl, priority }),
      zones: [
        // Version 2 does not list all keys, so missing names must be queried.
        { zone: makeZoneAt(domain), missing: version === 2 ? 'ask' : 'deny', any: 'refused' },
        ...REVERSE_ZONES.map((apex) => ({ zone: makeZoneAt(apex), missing: 'next', any: 'ask' }) as const),
      ],
    },
    fallthrough: REVERSE_ZONES,
    soaTtl: ttl,
    exceptions: stubZones.map((zone) => zone.domain),
    localName: local && { alias: toKey(joinName('local', joinName('dns', domain))), name: local },
  };
}

function makeZone(apex: NameKey, { hostmaster, minTtl }: SkyDnsSettings, now: number): Zone {
  return {
    apex,
    soa: {
      kind: 'SOA',
      primary: joinName('ns', joinName('dns', apex)),
      mailbox: hostmaster,
      // The start of the hour, as in SkyDNS.
      serial: (now - (now % 3600)) % 2 ** 32,
      refresh: 28_800,
      retry: 7200,
      expire: 604_800,
      minimum: minTtl,
    },
    negativeTtl: minTtl,
    authoritativeNxdomain: true,
  };
}
