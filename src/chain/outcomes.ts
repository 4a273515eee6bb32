/**
 * The counters that answers of the handler chain add to: those for names of the cluster's domain and about the server
 * itself, and all others. Hits of the table have others.
 */
export const CHAIN_OUTCOME = { ours: 12, others: 13 } as const;
