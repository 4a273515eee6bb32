/**
 * A server block: the handlers that answer the queries of a view, in their order.
 */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { type Chain, composeChain, type Handler } from '../chain/handler.ts';
import type { Questions } from '../chain/match.ts';
import type { ClusterZonePlan } from '../config/server/engine-plan.ts';
import { createAliasFollower } from '../handlers/alias/alias.ts';
import { createAnyHandler } from '../handlers/any/any.ts';
import { createFederationHandler, type FederationSource } from '../handlers/federation/federation.ts';
import { type ClusterSource, createKubernetesHandler } from '../handlers/kubernetes/kubernetes.ts';
import type { LocalHandlers } from '../handlers/local/local-handlers.ts';
import { metaTypesHandler } from '../handlers/meta-types/meta-types.ts';
import { createTypeFilter, type FilteredTypes } from '../handlers/resolver/filtered-types.ts';
import type { Resolver } from '../handlers/resolver/resolver.ts';
import { type NameKey, TYPE } from '../wire/types.ts';
import type { EtcdHandlers } from './etcd-zones.ts';
import { createBypass, createForwardHandler, createLoopHandler } from './joining-handlers.ts';

export interface Block {
  /** In the order in which they see a query. */
  readonly handlers: readonly Handler[];
  readonly chain: Chain;
}

export interface BlockParts {
  readonly local: LocalHandlers;
  readonly resolver: Resolver;
  /** Answers class CHAOS; undefined: REFUSED. */
  readonly chaos: Handler | undefined;
  /** Zones from etcd. */
  readonly etcd?: EtcdHandlers;
}

export interface ClusterBlockParts extends BlockParts {
  readonly zone: ClusterZonePlan;
  readonly cluster: ClusterSource;
  readonly federations: FederationSource;
  /** Names inside the zone that other servers answer. */
  readonly stubZones: Questions;
  readonly filteredTypes: FilteredTypes;
  readonly clock: Clock;
  readonly log: Log;
}

/** Local names and the upstream servers. */
export function makeForwardingBlock(parts: BlockParts): Block {
  const { local, resolver, etcd } = parts;
  const last = [local.questionRules, ...(etcd?.beforeForward ?? []), forwardTo(resolver)];
  const zones = etcd === undefined ? [] : [createBypass('stub-zones', etcd.stubZones, last), ...etcd.zones];
  return blockOf([...firstHandlers(parts), local.knownNames, ...zones, ...last]);
}

/** The same around the zone of a cluster. */
export function makeClusterBlock(parts: ClusterBlockParts): Block {
  const { local, resolver, zone, cluster, federations, stubZones, filteredTypes, clock, log } = parts;
  const last = [local.denyRefused, local.questionRules, forwardTo(resolver)];
  const isOurs = (name: NameKey) => !stubZones.includes(name, TYPE.A) && cluster.names.owns(name);
  return blockOf([
    ...firstHandlers(parts),
    createAnyHandler(zone.dialect.anyQuestions, isOurs),
    ...(filteredTypes.size === 0 ? [] : [createTypeFilter(filteredTypes, isOurs)]),
    createAliasFollower(log, clock),
    local.knownNames,
    createBypass('stub-zones', stubZones, last),
    createFederationHandler({ federations, cluster, clock, log }),
    createKubernetesHandler(cluster),
    ...last,
  ]);
}

function firstHandlers({ resolver, chaos }: BlockParts): readonly Handler[] {
  const loop = createLoopHandler((question) => resolver.isOwnProbe(question));
  return [loop, ...(chaos === undefined ? [] : [chaos]), metaTypesHandler];
}

function forwardTo(resolver: Resolver): Handler {
  return createForwardHandler((query) => resolver.answer(query));
}

function blockOf(handlers: readonly Handler[]): Block {
  return { handlers, chain: composeChain(handlers) };
}
