/**
 * Compiles the plan of `portolan serve` and `portolan kube-dns`, with the current files and ConfigMap, to the plan of a server.
 */
import type { networkInterfaces } from 'node:os';
import { DEFAULT_UDP_SIZE } from '@portolan/dns/response-size.ts';
import { usePlugin } from '@portolan/kernel/contract/plugin-use.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import type { Federation } from '@portolan/kubernetes/plugins/federations/federation.ts';
import { findDialect } from '@portolan/kubernetes/publish/find-dialect.ts';
import type { DnsmasqIdentity } from '@portolan/plugins/chaos/options.ts';
import { discovery } from '@portolan/plugins/discovery/plugin.ts';
import { makeClientsPlan } from '@portolan/server/plan/clients-plan.ts';
import {
  writeClusterPlugins,
  writeFirstPlugins,
  writeLocalNames,
  writeNftset,
  writePlainEngine,
  writePlainListeners,
} from '@portolan/server/plan/plain-block.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import type { KubeDnsConfig } from '@portolan/server/settings/config-map/config-map.ts';
import { makeServeLocalSettings } from './local-settings.ts';
import { makeLastOptions, NO_SERVERS, type ServeInputs } from './resolver-settings.ts';
import type { ServePlan } from './serve-options.ts';

/** Properties of the machine. */
export interface ServeMachine {
  readonly interfaces: ReturnType<typeof networkInterfaces>;
  /** The addresses by which clients may address this server. */
  readonly ownAddresses: readonly string[];
}

/** Octets per cached answer on average, to convert the size of the cache to a number of answers. */
const OCTETS_PER_ANSWER = 256;

export function compileServe(plan: ServePlan, changing: ServeInputs, machine: ServeMachine): ServerPlan {
  const { cluster, listen, health, skyDnsMetrics, snapshotFile, snapshotMaxAge, lameduck, drain } = plan;
  const { addresses, port, clients, udpReaders, udpCoalesce = 0, takeover } = listen;
  return {
    engine: compileEngine(plan, changing, machine),
    listen: { groups: [writePlainListeners({ addresses, port, clients })], udpCoalesce },
    udpReaders,
    takeover,
    objects: {
      source: cluster.objects,
      snapshotFile,
      snapshotMaxAge,
      initialSyncTimeout: plan.initialSyncTimeout,
    },
    queryLines: 'server',
    queryLog: plan.queryLog,
    http: { health, skyDnsMetrics },
    endpoints: [],
    lameduck,
    drain,
    keepsStatistics: plan.keepsStatistics,
    history: plan.history,
  };
}

function compileEngine(plan: ServePlan, changing: ServeInputs, machine: ServeMachine): EnginePlan {
  const { cluster, resolver } = plan;
  const { domain, pods, ttl, endpointRanges, nodes, hasHttpsRecords, tenants } = cluster;
  const dialect = findDialect(cluster.dialect);
  const { cacheOctets, cacheEntries = Number.POSITIVE_INFINITY } = resolver;
  const clients = makeClientsPlan(machine.interfaces, {
    servesOnlyNetworks: false,
    localises: resolver.dnsmasq?.local.localisesQueries ?? false,
  });
  const last = makeLastOptions(resolver, changing);
  return writePlainEngine({
    clients,
    plugins: [
      ...writeNftset(plan.nftset),
      ...writeFirstPlugins(createIdentity(plan), changing.extra, plan.identity.nsid),
      // These front ends have no encrypted listeners.
      ...(plan.servesDiscovery ? [usePlugin(discovery, { name: undefined, listeners: [] })] : []),
      ...writeClusterPlugins({
        zone: {
          domain,
          dialect,
          pods,
          ttl,
          endpointRanges,
          nodes,
          hasHttpsRecords,
          tenants,
          ownAddresses: machine.ownAddresses,
        },
        federations: chooseFederations(plan, changing.config),
        local: writeLocalNames(
          makeServeLocalSettings(resolver.hosts, resolver.dnsmasq, ttl, machine.interfaces),
          clients,
        ),
        last,
      }),
    ],
    responses: {
      recursionAvailable: dialect.recursionAvailable || hasServers(plan),
      rotatesAddresses: resolver.dnsmasq?.cache.rotatesAddresses ?? true,
      sendsExtendedErrors: true,
      domain,
    },
    cache: {
      octets: cacheOctets,
      entries: cacheOctets === 0 ? 0 : cacheEntries,
      maxTtl: last.cache.maxTtl,
    },
    udpSize: DEFAULT_UDP_SIZE,
    losses: plan.losses,
  });
}

/** The federations of the ConfigMap, or of the flags if it has none. */
function chooseFederations({ federations }: ServePlan, config: KubeDnsConfig): readonly Federation[] {
  return config.federations.length > 0 ? config.federations : federations;
}

/** Whether the flags name servers, or a file that may name some. */
function hasServers({ resolver }: ServePlan): boolean {
  const { upstreams } = resolver;
  return upstreams.kind !== 'none' || makeLastOptions(resolver, NO_SERVERS).forward.rules.length > 0;
}

/** Counts are for the sidecar, which makes metrics of them. */
function createIdentity({ resolver, cluster, sidecar, identity }: ServePlan): Omit<DnsmasqIdentity, 'kind'> {
  const { cacheEntries, cacheOctets } = resolver;
  const cacheSize = cacheEntries ?? Math.floor(cacheOctets / OCTETS_PER_ANSWER);
  const hasCounts = sidecar !== undefined;
  const version = identity.hidesVersion ? 'none' : 'all';
  const namesHost = !identity.hidesHost;
  return { identifies: true, ttl: cluster.ttl, cacheSize, namesHost, version, hasCounts };
}
