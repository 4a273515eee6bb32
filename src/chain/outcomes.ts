/**
 * The counters that answers of the handler chain add to: those for names of the cluster's domain and about the server
 * itself, and all others. Hits of the table have others.
 */
import { nameOutcomes } from '../table/outcomes.ts';

export const CHAIN_OUTCOME = nameOutcomes('ours', 'others');
