/**
 * Properties for all parameters and all clusters. The recorded decisions are in test/autoscaler.
 */
import type { NodeCounts } from '@portolan/kubernetes/objects/node-counts.ts';
import {
  MAX_REPLICAS,
  type Parameters,
  ParametersError,
  readParameters,
} from '@portolan/server/settings/autoscaler/parameters.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideReplicas } from './decide.ts';

const size = fc
  .record({
    schedulableNodes: fc.nat(100_000),
    otherNodes: fc.nat(100_000),
    schedulableCores: fc.nat(10_000_000),
    otherCores: fc.nat(10_000_000),
  })
  .map(
    ({ schedulableNodes, otherNodes, schedulableCores, otherCores }): NodeCounts => ({
      schedulableNodes,
      nodes: schedulableNodes + otherNodes,
      schedulableCores,
      cores: schedulableCores + otherCores,
    }),
  );

const perReplica = fc.oneof(
  fc.double({ min: 0, max: 1e6, noNaN: true }),
  fc.constantFrom(0, 5e-324, 1e-9, 1e300),
);
const bound = fc.oneof(fc.nat(100), fc.constantFrom(2 ** 31 - 1, 2 ** 31, 2 ** 32 + 3, 2 ** 53));
const flag = fc.boolean();
const linear = fc.record(
  {
    coresPerReplica: perReplica,
    nodesPerReplica: perReplica,
    min: bound,
    max: bound,
    preventSinglePointFailure: flag,
    includeUnschedulableNodes: flag,
  },
  { requiredKeys: [] },
);
const rungs = fc.array(
  fc.oneof(fc.tuple(bound, fc.oneof(fc.integer({ min: 1, max: 50 }), bound)), fc.constant(null)),
);
const ladder = fc.record(
  { coresToReplicas: rungs, nodesToReplicas: rungs, includeUnschedulableNodes: flag },
  { requiredKeys: [] },
);

/** @returns undefined if the parameters are refused */
function attempt<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof ParametersError) return undefined;
    throw error;
  }
}

function read(mode: 'linear' | 'ladder', parameters: object): Parameters | undefined {
  return attempt(() => readParameters(new Map([[mode, JSON.stringify(parameters)]])));
}

test('linear parameters never ask for 0, for fewer than min, or for more than 32 bits hold', () => {
  let decided = 0;
  fc.assert(
    fc.property(linear, size, (written, cluster) => {
      const parameters = read('linear', written);
      if (parameters?.mode !== 'linear') return;
      const decision = attempt(() => decideReplicas(parameters, cluster));
      if (decision === undefined) return;
      decided += 1;
      const { replicas } = decision;
      expect(Number.isInteger(replicas)).toBe(true);
      expect(replicas).toBeGreaterThanOrEqual(Math.max(1, parameters.min));
      // Avoiding a single point of failure takes two replicas, even with a max of 1.
      if (parameters.max > 1) expect(replicas).toBeLessThanOrEqual(parameters.max);
      expect(replicas).toBeLessThanOrEqual(MAX_REPLICAS);
    }),
  );
  expect(decided).toBeGreaterThan(0);
});

test('linear parameters ask for no fewer replicas of a larger cluster', () => {
  fc.assert(
    fc.property(linear, size, fc.nat(1000), fc.nat(1000), (written, cluster, moreNodes, moreCores) => {
      const parameters = read('linear', written);
      if (parameters === undefined) return;
      const { nodes, cores, schedulableNodes, schedulableCores } = cluster;
      const larger: NodeCounts = {
        nodes: nodes + moreNodes,
        schedulableNodes: schedulableNodes + moreNodes,
        cores: cores + moreCores,
        schedulableCores: schedulableCores + moreCores,
      };
      const before = attempt(() => decideReplicas(parameters, cluster))?.replicas;
      const after = attempt(() => decideReplicas(parameters, larger))?.replicas;
      if (before !== undefined && after !== undefined) expect(after).toBeGreaterThanOrEqual(before);
      // Parameters refused for a cluster are refused for larger ones.
      else expect(after).toBeUndefined();
    }),
  );
});

test('ladders ask for 0 only where a rung says so, and for what a rung says', () => {
  let decided = 0;
  fc.assert(
    fc.property(ladder, size, (written, cluster) => {
      const parameters = read('ladder', written);
      if (parameters === undefined) return;
      decided += 1;
      const { replicas } = decideReplicas(parameters, cluster);
      const { coresToReplicas = [], nodesToReplicas = [] } = written;
      const said = [...coresToReplicas, ...nodesToReplicas].map((rung) => rung?.[1] ?? 1);
      expect(said).toContain(replicas);
      expect(replicas).toBeLessThanOrEqual(MAX_REPLICAS);
    }),
  );
  expect(decided).toBeGreaterThan(0);
});

test.each<[string, string]>([
  ['ladder', '{"nodesToReplicas":[[1,2],[3]]}'],
  ['ladder', '{"nodesToReplicas":[[]]}'],
  ['ladder', '{"nodestoreplica":[[1,2]]}'],
  ['ladder', '[]'],
  ['linear', '{"nodesPerReplicas":2}'],
  ['linear', 'null'],
])('%s %s is refused rather than taken for 0', (mode, text) => {
  expect(attempt(() => readParameters(new Map([[mode, text]])))).toBeUndefined();
});
