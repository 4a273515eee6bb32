/**
 * Every recorded decision of cluster-proportional-autoscaler, from nodes and a ConfigMap to replicas or an error, and the few
 * intended differences.
 */
import { countNodes } from '@portolan/kubernetes/objects/node-counts.ts';
import { trimNodeCapacity } from '@portolan/kubernetes/objects/trim/trim-node-capacity.ts';
import { decideReplicas } from '@portolan/ops/autoscaler/decide.ts';
import { ParametersError, readParameters } from '@portolan/server/settings/autoscaler/parameters.ts';
import { describe, expect, it } from 'vitest';
import { matchesLabels } from '../api-server/selector.ts';
import { readRecording, readRecordingHeader } from '../support/recordings.ts';
import { dropJsonText } from './json-text.ts';
import { makeNodes, type NodeGroup } from './nodes.ts';

interface Case {
  readonly name: string;
  readonly nodes: string;
  readonly nodeLabels?: string;
  readonly data: Readonly<Record<string, string>>;
  readonly counted: unknown;
  readonly replicas?: number;
  readonly error?: string;
}

interface Header {
  readonly nodeSets: Readonly<Record<string, readonly NodeGroup[]>>;
}

const FILE = 'test/autoscaler/decisions.jsonl';
const { nodeSets } = readRecordingHeader<Header>(FILE);
const CASES = readRecording<Case>(FILE);

const NO_RUNG =
  'Error syncing configMap with controller: error parsing ladder params: should provide coresToReplicas or nodesToReplicas with at least one entry';
const noReplicas = (shown: string): string =>
  `Error syncing configMap with controller: error parsing ladder params: entry ${shown} in nodes_to_replicas_map has no number of replicas: give [from, replicas]`;
const tooMany = (shown: string): string =>
  `Error syncing configMap with controller: error parsing ladder params: more replicas than 2147483647 in entry ${shown} in nodes_to_replicas_map: give fewer`;
const tooManyFor = (replicas: string, size: string): string =>
  `more replicas than 2147483647: ${replicas} for ${size}; raise nodesPerReplica and coresPerReplica, or set max`;

/** The cases in which the original scales to 0 by mistake, or wraps at 32 bits, and what is said here instead. */
const DIFFERENCES: Readonly<Record<string, string>> = {
  'ladder-empty-lists': NO_RUNG,
  'ladder-empty-object': NO_RUNG,
  'ladder-null': NO_RUNG,
  'ladder-null-lists': NO_RUNG,
  'ladder-misspelt': NO_RUNG,
  'before-zero-ladder-zero': NO_RUNG,
  'ladder-one-element': noReplicas('[4]'),
  'ladder-empty-pair': noReplicas('[]'),
  'ladder-value-over-32-bit': tooMany('[1 4294967299]'),
  'ladder-value-2-31': tooMany('[1 2147483648]'),
  'fraction-nodes-1e-09': tooManyFor('5000000000', '5 nodes with 20 cores'),
  'fraction-cores-overflow': tooManyFor('12000000000', '3 nodes with 12 cores'),
  'smallest-float': tooManyFor('Infinity', '3 nodes with 12 cores'),
};

function decide({ data, nodes, nodeLabels = '' }: Case) {
  const trimmed = makeNodes(nodeSets[nodes] ?? [])
    .filter(({ metadata }) => matchesLabels(nodeLabels, metadata.labels))
    .map(trimNodeCapacity);
  const counted = countNodes(trimmed.flatMap((each) => (each.kind === 'object' ? [each.object] : [])));
  try {
    const { replicas } = decideReplicas(readParameters(new Map(Object.entries(data))), counted);
    return { counted, replicas };
  } catch (error) {
    if (!(error instanceof ParametersError)) throw error;
    return { counted, error: dropJsonText(error.message) };
  }
}

describe('decisions', () => {
  it.each(CASES.filter(({ name }) => !Object.hasOwn(DIFFERENCES, name)))('$name', (recorded) => {
    const { counted, replicas, error } = recorded;
    const result = error === undefined ? { replicas } : { error: dropJsonText(error) };
    expect(decide(recorded)).toEqual({ counted, ...result });
  });

  it('differ where the original scales to 0 by mistake or wraps', () => {
    const found = CASES.map((recorded) => ({ recorded, ours: decide(recorded) }))
      .filter(({ recorded: { replicas, error }, ours }) => {
        const original = error === undefined ? undefined : dropJsonText(error);
        return replicas !== ours.replicas || original !== ours.error;
      })
      .map(({ recorded, ours }) => [recorded.name, ours.error]);
    expect(Object.fromEntries(found)).toEqual(DIFFERENCES);
    expect(CASES).toHaveLength(249);
  });
});
