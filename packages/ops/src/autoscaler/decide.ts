/**
 * Computes the replicas for a cluster of a given size like cluster-proportional-autoscaler, without its overflows.
 */
import type { NodeCounts } from '@portolan/kubernetes/objects/node-counts.ts';
import {
  type LadderParameters,
  type LinearParameters,
  MAX_REPLICAS,
  type Parameters,
  ParametersError,
  type Rung,
} from '@portolan/server/settings/autoscaler/parameters.ts';

export interface Decision {
  /** The larger of `byNodes` and `byCores`. */
  readonly replicas: number;
  /** Replicas for the nodes. 0 if a ladder does not count them. Likewise `byCores`. */
  readonly byNodes: number;
  readonly byCores: number;
}

/** @throws ParametersError if the parameters result in more replicas than possible */
export function decideReplicas(parameters: Parameters, size: NodeCounts): Decision {
  const all = parameters.includeUnschedulableNodes;
  const nodes = all ? size.nodes : size.schedulableNodes;
  const cores = all ? size.cores : size.schedulableCores;
  const [byNodes, byCores] =
    parameters.mode === 'linear' ? decideLinear(parameters, nodes, cores) : climb(parameters, nodes, cores);
  const replicas = Math.max(byNodes, byCores);
  if (replicas > MAX_REPLICAS)
    throw new ParametersError(
      `more replicas than ${MAX_REPLICAS}: ${replicas} for ${nodes} nodes with ${cores} cores; raise nodesPerReplica and coresPerReplica, or set max`,
    );
  return { replicas, byNodes, byCores };
}

function decideLinear(
  parameters: LinearParameters,
  nodes: number,
  cores: number,
): readonly [byNodes: number, byCores: number] {
  const byNodes = share(nodes, parameters.nodesPerReplica, parameters);
  const isSinglePoint = parameters.preventSinglePointFailure && nodes > 1;
  return [
    isSinglePoint ? Math.max(2, byNodes) : byNodes,
    share(cores, parameters.coresPerReplica, parameters),
  ];
}

/** A dimension that does not count gives one replica, regardless of the bounds. */
function share(count: number, perReplica: number, { min, max }: LinearParameters): number {
  if (perReplica === 0) return 1;
  const wanted = Math.ceil(count / perReplica);
  return Math.max(min, max === 0 ? wanted : Math.min(max, wanted));
}

function climb(
  { nodesToReplicas, coresToReplicas }: LadderParameters,
  nodes: number,
  cores: number,
): readonly [byNodes: number, byCores: number] {
  return [stepAt(nodesToReplicas, nodes), stepAt(coresToReplicas, cores)];
}

/** Below the first rung, the first rung applies. */
function stepAt(rungs: readonly Rung[], count: number): number {
  const rung = rungs.findLast(({ from }) => from <= count) ?? rungs[0];
  return rung?.replicas ?? 0;
}
