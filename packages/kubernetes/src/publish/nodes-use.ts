/**
 * How a server uses the nodes of a cluster.
 */
export interface NodesUse {
  /** Whether clients get endpoints of headless services in their own zone or on their own node, where there are some. */
  readonly prefersZone: boolean;
  /** The node of all clients. Undefined: their addresses tell. */
  readonly ownNode: string | undefined;
  /** Whether the ranges of pods and nodes bound which endpoints have reverse names. */
  readonly boundsEndpoints: boolean;
}

/** @returns undefined: nothing is learned, and nodes are not followed */
export function makeNodesUse(options: {
  readonly prefersZone: boolean;
  readonly ownNode: string | undefined;
  readonly learnsRanges: boolean;
}): NodesUse | undefined {
  const { prefersZone, ownNode, learnsRanges } = options;
  return prefersZone || learnsRanges ? { prefersZone, ownNode, boundsEndpoints: learnsRanges } : undefined;
}

/** The only node that has to be followed; undefined: all of them. */
export const followedNode = ({ ownNode, boundsEndpoints }: NodesUse): string | undefined =>
  boundsEndpoints ? undefined : ownNode;
