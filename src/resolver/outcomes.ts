/**
 * The counters that hits of cached answers add to. Names of the cluster have others.
 */
import { nameOutcomes } from '../table/outcomes.ts';

export const RESOLVER_OUTCOME = nameOutcomes('answered', 'stale');
