/**
 * The counters that hits of the cluster's names add to, by what the name stands for.
 */
import { nameOutcomes } from '../../table/outcomes.ts';

export const OUTCOME = nameOutcomes(
  ...(['zone', 'namespace', 'clusterIP', 'headless', 'endpoint', 'externalName', 'pod', 'reverse'] as const),
);

/** What to call each of them. */
export const METRICS_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(OUTCOME).map(([name, id]) => [id, name]),
);
