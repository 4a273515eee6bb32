/**
 * The counters for hits of the cluster's names, by kind of name.
 */
import { nameOutcomes } from '@portolan/kernel/table/outcomes.ts';

export const OUTCOME = nameOutcomes(
  ...(['zone', 'namespace', 'clusterIP', 'headless', 'endpoint', 'externalName', 'pod', 'reverse'] as const),
);

/** The label of each in metrics. */
export const METRICS_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(OUTCOME).map(([name, id]) => [id, name]),
);
