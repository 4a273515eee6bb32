/**
 * The server block of Portolan's own front ends: one for all names and listeners. The plugins are in an order that these front ends share.
 */
import { isWithin, ROOT } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { toNativeForm } from '@portolan/kernel/chain/response-form.ts';
import { type PluginUse, usePlugin } from '@portolan/kernel/contract/plugin-use.ts';
import { usePlace } from '@portolan/kernel/contract/use-place.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import type { ForwardPlan, ForwardRule } from '@portolan/kernel/forward/forward-plan.ts';
import type { EnginePlan } from '@portolan/kernel/plan/engine-plan.ts';
import type { ClientsPlan, ListenerGroupPlan, TcpPlan } from '@portolan/kernel/plan/server-blocks-plan.ts';
import { PLAIN_GROUP } from '@portolan/kernel/plan/server-blocks-plan.ts';
import { isOfKubernetes } from '@portolan/kubernetes/names/labels.ts';
import type { Federation } from '@portolan/kubernetes/plugins/federations/federation.ts';
import { federations as federationsPlugin } from '@portolan/kubernetes/plugins/federations/plugin.ts';
import type { ProcessClusterOptions } from '@portolan/kubernetes/plugins/kubernetes/options.ts';
import { kubernetes } from '@portolan/kubernetes/plugins/kubernetes/plugin.ts';
import { aliases } from '@portolan/plugins/aliases/plugin.ts';
import { any } from '@portolan/plugins/any/plugin.ts';
import type { NativeRules } from '@portolan/plugins/cache/options.ts';
import { cache as cachePlugin } from '@portolan/plugins/cache/plugin.ts';
import type { DnsmasqIdentity } from '@portolan/plugins/chaos/options.ts';
import { chaos } from '@portolan/plugins/chaos/plugin.ts';
import { filteredTypes as filteredTypesPlugin } from '@portolan/plugins/filtered-types/plugin.ts';
import type { FilteredTypes } from '@portolan/plugins/forward/filtered-types.ts';
import { planRoute } from '@portolan/plugins/forward/options.ts';
import { forward as forwardPlugin } from '@portolan/plugins/forward/plugin.ts';
import { LOCAL_PLACES, type LocalNamesOptions } from '@portolan/plugins/local-names/options.ts';
import { localNames } from '@portolan/plugins/local-names/plugin.ts';
import { metaTypes } from '@portolan/plugins/meta-types/plugin.ts';
import type { NftsetRule } from '@portolan/plugins/nftset/options.ts';
import { nftset } from '@portolan/plugins/nftset/plugin.ts';
import type { NsidOptions } from '@portolan/plugins/nsid/plugin.ts';
import { nsid as nsidPlugin } from '@portolan/plugins/nsid/plugin.ts';
import { probes } from '@portolan/plugins/probes/plugin.ts';

export interface PlainListenerParts extends Pick<ListenerGroupPlan, 'addresses' | 'port' | 'clients'> {
  readonly tcp?: Partial<TcpPlan>;
  /** Threads that answer UDP from the start; 1: the shared threads, which start as needed. Default: 1. */
  readonly readers?: number;
}

/** The listeners of the block. */
export function writePlainListeners({ tcp, readers = 1, ...parts }: PlainListenerParts): ListenerGroupPlan {
  return {
    ...parts,
    server: PLAIN_GROUP,
    scheme: 'dns',
    tls: undefined,
    sites: [],
    address: '',
    tcp: { idle: undefined, read: undefined, write: undefined, queries: MAX_QUERIES, ...tcp },
    readers,
  };
}

/** The most queries on one TCP connection. */
const MAX_QUERIES = 10_000;

export interface PlainResponses {
  /** Whether to set the RA bit in our own answers. */
  readonly recursionAvailable: boolean;
  /** Whether to rotate the addresses of an answer; otherwise their order is kept. */
  readonly rotatesAddresses: boolean;
  /** Names within this domain count apart from all others; undefined: all names count together. */
  readonly domain: NameKey | undefined;
  /** Whether responses carry extended errors of our own (RFC 8914). Default: only those of upstream servers. */
  readonly sendsExtendedErrors?: boolean;
}

export interface PlainEngineParts {
  readonly clients: ClientsPlan | undefined;
  readonly plugins: readonly PluginUse[];
  readonly responses: PlainResponses;
  readonly cache: EnginePlan['cache'];
  readonly udpSize: number;
  readonly losses?: EnginePlan['losses'];
}

export function writePlainEngine({
  clients,
  plugins,
  responses,
  cache,
  udpSize,
  losses,
}: PlainEngineParts): EnginePlan {
  return {
    blocks: [{ zones: [ROOT], plugins, clients }],
    groups: [{ server: PLAIN_GROUP, sites: [{ zone: ROOT, block: 0 }] }],
    restored: NOTHING_RESTORED,
    responses: {
      form: toNativeForm({
        recursionAvailable: responses.recursionAvailable,
        udpSize,
        extendedErrors: responses.sendsExtendedErrors === true ? 'all' : 'passed-on',
      }),
      rotatesAddresses: responses.rotatesAddresses,
      counting: { by: 'domain', domain: responses.domain },
    },
    cache,
    udpSize,
    losses,
  };
}

/**
 * The first plugins of each block.
 *
 * @param identity undefined: class CHAOS is refused
 * @param extra of `--blocks-extra`; they stand before all plugins that answer names
 * @param nsid undefined: clients that ask for it get none
 */
export function writeFirstPlugins(
  identity: Omit<DnsmasqIdentity, 'kind'> | undefined,
  extra: readonly PluginUse[] = [],
  nsid?: NsidOptions,
): readonly PluginUse[] {
  return [
    usePlugin(probes, undefined),
    ...(nsid === undefined ? [] : [usePlugin(nsidPlugin, nsid)]),
    ...(identity === undefined ? [] : [usePlugin(chaos, { kind: 'dnsmasq', ...identity })]),
    usePlugin(metaTypes, undefined),
    ...extra,
  ];
}

/** The plugin for sets of nftables, before all that answers names or changes answers; none without a rule. */
export function writeNftset(rules: readonly NftsetRule[]): readonly PluginUse[] {
  return rules.length === 0 ? [] : [usePlugin(nftset, { rules })];
}

/** The plugin for names of hosts files and options. */
export function writeLocalNames(
  settings: LocalNamesOptions['settings'],
  clients: ClientsPlan | undefined,
): PluginUse {
  const networks = clients?.localises === true ? clients.networks : [];
  return usePlugin(localNames, { settings, networks });
}

/** The options of the plugins for names that are not ours. */
export interface LastOptions {
  readonly cache: NativeRules;
  readonly forward: ForwardPlan;
  /** Types that clients do not get. */
  readonly filteredTypes: FilteredTypes;
}

/** The last plugins: question rules, cache and forward. @param between plugins that may refuse queries before they are forwarded */
export function writeLastPlugins(
  { cache, forward, filteredTypes }: LastOptions,
  between: readonly PluginUse[] = [],
): readonly PluginUse[] {
  return [
    usePlace(localNames, LOCAL_PLACES.rules),
    ...between,
    usePlugin(cachePlugin, cache),
    usePlugin(forwardPlugin, { routes: [planRoute(forward, filteredTypes)] }),
  ];
}

export interface ClusterParts {
  readonly zone: Omit<ProcessClusterOptions, 'kind' | 'filteredTypes' | 'exceptions'>;
  readonly federations: readonly Federation[];
  readonly local: PluginUse;
  readonly last: LastOptions;
}

/** The plugins around a cluster zone, and the servers for all other names. */
export function writeClusterPlugins({ zone, federations, local, last }: ClusterParts): readonly PluginUse[] {
  const { domain, dialect } = zone;
  const { filteredTypes: types, forward } = last;
  const exceptions = [...namesForwardedWithin(forward.rules, domain)];
  return [
    usePlugin(any, { policy: dialect.anyQuestions }),
    ...(types.size === 0 ? [] : [usePlugin(filteredTypesPlugin, { types })]),
    usePlugin(aliases, undefined),
    local,
    usePlugin(federationsPlugin, { domain, federations }),
    usePlugin(kubernetes, { kind: 'process', ...zone, filteredTypes: types, exceptions }),
    usePlace(localNames, LOCAL_PLACES.nodata),
    ...writeLastPlugins(last),
  ];
}

/**
 * The domains inside the cluster's zone with their own servers. Names of services and pods never belong to them, whatever the rules.
 *
 * @param cluster the apex of the cluster's zone
 */
function* namesForwardedWithin(rules: readonly ForwardRule[], cluster: NameKey): Iterable<NameKey> {
  for (const { names } of rules) {
    for (const match of names) {
      if (match.kind !== 'domain' || match.name === cluster || !isWithin(match.name, cluster)) continue;
      if (!isOfKubernetes(match.name, cluster)) yield match.name;
    }
  }
}
