/**
 * The server block of Portolan's own front ends: one for all names and listeners. The plugins are in an order that these front ends share.
 */
import type { ForwardPlan, ForwardRule } from '../../forward/forward-plan.ts';
import { isOfKubernetes } from '../../kube/names/labels.ts';
import type { OwnRules } from '../../plugins/cache/options.ts';
import type { ClusterZoneOptions } from '../../plugins/cluster-zone/options.ts';
import type { Federation } from '../../plugins/federations/federation.ts';
import type { FilteredTypes } from '../../plugins/forward/filtered-types.ts';
import { planRoute } from '../../plugins/forward/options.ts';
import type { IdentityOptions } from '../../plugins/identity/options.ts';
import type { LocalNamesOptions } from '../../plugins/local-names/options.ts';
import type { NsidOptions } from '../../plugins/nsid/plugin.ts';
import { isWithin, ROOT } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import type { EnginePlan } from './engine-plan.ts';
import type { PluginPlan } from './plugin-plan.ts';
import type { ClientsPlan, ListenerGroupPlan, PlainResponses, TcpPlan } from './server-blocks-plan.ts';

/** The name of the only listener group. */
export const PLAIN_GROUP = 'dns';

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

export interface PlainEngineParts {
  readonly clients: ClientsPlan | undefined;
  readonly plugins: readonly PluginPlan[];
  readonly responses: Omit<PlainResponses, 'kind'>;
  readonly cache: EnginePlan['cache'];
  readonly udpSize: number;
}

export function writePlainEngine({
  clients,
  plugins,
  responses,
  cache,
  udpSize,
}: PlainEngineParts): EnginePlan {
  return {
    blocks: [{ zones: [ROOT], plugins, clients }],
    groups: [{ server: PLAIN_GROUP, sites: [{ zone: ROOT, block: 0 }] }],
    isStrict: false,
    responses: { kind: 'plain', ...responses },
    cache,
    udpSize,
  };
}

/** Inserts further plugins before all plugins that answer names. */
export function joinPlugins(plan: EnginePlan, further: readonly PluginPlan[]): EnginePlan {
  const blocks = plan.blocks.map((block) => {
    const place = block.plugins.findIndex(({ name }) => name === 'meta-types') + 1;
    return { ...block, plugins: block.plugins.toSpliced(place, 0, ...further) };
  });
  return { ...plan, blocks };
}

/**
 * The first plugins of each block.
 *
 * @param identity undefined: class CHAOS is refused
 * @param nsid undefined: clients that ask for it get none
 */
export function writeFirstPlugins(
  identity: IdentityOptions | undefined,
  nsid?: NsidOptions,
): readonly PluginPlan[] {
  return [
    { name: 'probes', options: undefined },
    ...(nsid === undefined ? [] : [{ name: 'nsid', options: nsid } as const]),
    ...(identity === undefined ? [] : [{ name: 'identity', options: identity } as const]),
    { name: 'meta-types', options: undefined },
  ];
}

/** The plugin for names of hosts files and options. */
export function writeLocalNames(
  settings: LocalNamesOptions['settings'],
  clients: ClientsPlan | undefined,
): PluginPlan {
  const networks = clients?.localises === true ? clients.networks : [];
  return { name: 'local-names', options: { settings, networks } };
}

/** The options of the plugins for names that are not ours. */
export interface LastOptions {
  readonly cache: OwnRules;
  readonly forward: ForwardPlan;
  /** Types that clients do not get. */
  readonly filteredTypes: FilteredTypes;
}

/** The last plugins: question rules, cache and forward. @param between plugins that may refuse queries before they are forwarded */
export function writeLastPlugins(
  { cache, forward, filteredTypes }: LastOptions,
  between: readonly PluginPlan[] = [],
): readonly PluginPlan[] {
  return [
    { name: 'question-rules', options: undefined },
    ...between,
    { name: 'cache', options: cache },
    { name: 'forward', options: { routes: [planRoute(forward, filteredTypes)] } },
  ];
}

export interface ClusterParts {
  readonly zone: Omit<ClusterZoneOptions, 'filteredTypes'>;
  readonly federations: readonly Federation[];
  readonly local: PluginPlan;
  readonly last: LastOptions;
}

/** The plugins around a cluster zone, and the servers for all other names. */
export function writeClusterPlugins({ zone, federations, local, last }: ClusterParts): readonly PluginPlan[] {
  const { domain, dialect } = zone;
  const { filteredTypes: types, forward } = last;
  const zones = [...namesForwardedWithin(forward.rules, domain)];
  return [
    { name: 'any-type', options: { policy: dialect.anyQuestions } },
    ...(types.size === 0 ? [] : [{ name: 'filtered-types', options: { types } } as const]),
    { name: 'aliases', options: undefined },
    local,
    { name: 'stub-zones', options: { zones, to: 'hosts-nodata' } },
    { name: 'federations', options: { domain, federations } },
    { name: 'cluster-zone', options: { ...zone, filteredTypes: types } },
    { name: 'hosts-nodata', options: undefined },
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
