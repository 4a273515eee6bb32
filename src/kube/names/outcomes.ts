/**
 * The counters that hits of the cluster's names add to, by what the name stands for.
 */
export const OUTCOME = {
  zone: 1,
  namespace: 2,
  clusterIP: 3,
  headless: 4,
  endpoint: 5,
  externalName: 6,
  pod: 7,
  reverse: 8,
} as const;

/** What to call each of them. */
export const METRICS_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(OUTCOME).map(([name, id]) => [id, name]),
);
