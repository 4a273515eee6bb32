/**
 * Reads the flags that say where pods, nodes and clients are.
 */
import { type AddressRange, parseAddressRange } from '@portolan/dns/address-range.ts';
import { makeNodesUse, type NodesUse } from '@portolan/kubernetes/publish/nodes-use.ts';
import type { ServeFlagReader } from './serve-flags.ts';

export interface ClusterRanges {
  /** Undefined: the ranges of pods and nodes are not configured. */
  readonly endpointRanges: readonly AddressRange[] | undefined;
  /** Undefined: nothing is learned from nodes. */
  readonly nodes: NodesUse | undefined;
}

/** Instead of a prefix: what the nodes say. */
const NODES = 'nodes';

/** @param hasNodes whether there is an API server, which has nodes */
export function readClusterRanges(read: ServeFlagReader, hasNodes: boolean): ClusterRanges {
  const words = read
    .text('endpoint-ranges')
    ?.split(',')
    .map((text) => text.trim());
  const learnsRanges = words?.includes(NODES) === true;
  const prefersZone = read.isOn('prefer-zone');
  const ownNode = read.text('node-name');
  const prefixes = words?.filter((word) => word !== NODES) ?? [];
  if (ownNode !== undefined && !prefersZone)
    read.addProblem('--node-name', 'without --prefer-zone', undefined, 'Add --prefer-zone, or leave it out.');
  if (!hasNodes)
    for (const [flag, isGiven] of [
      ['--prefer-zone', prefersZone],
      ['--endpoint-ranges=nodes', learnsRanges],
    ] as const)
      if (isGiven) read.addProblem(flag, 'there is no API server with nodes', undefined, 'Leave it out.');
  return {
    endpointRanges:
      prefixes.length === 0
        ? undefined
        : readPrefixes(read, 'endpoint-ranges', prefixes, '10.244.0.0/16,fd00::/48'),
    nodes: makeNodesUse({ prefersZone, ownNode, learnsRanges }),
  };
}

/** The prefixes of a flag; other words are problems. @param example of the flag's value */
export function readPrefixes(
  read: ServeFlagReader,
  flag: 'endpoint-ranges' | 'tenants-seen-by',
  words: readonly string[],
  example: string,
): readonly AddressRange[] {
  return words.flatMap((word) => {
    const range = parseAddressRange(word);
    if (range !== undefined) return range;
    read.addProblem(`--${flag}`, 'not a prefix', word, `Give prefixes such as ${example}.`);
    return [];
  });
}
