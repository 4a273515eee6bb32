/**
 * The counters that hits of cached answers add to. Those of the cluster's names lie below.
 */
export const RESOLVER_METRICS_ID = { answered: 64, stale: 65 } as const;
