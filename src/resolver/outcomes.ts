/**
 * The counters that hits of cached answers add to. Those of the cluster's names lie below.
 */
export const RESOLVER_OUTCOME = { answered: 10, stale: 11 } as const;
