/**
 * Counters of hits of cached answers. Names of the cluster have others.
 */
import { nameOutcomes } from '../../table/outcomes.ts';

export const RESOLVER_OUTCOME = nameOutcomes('answered', 'stale');
