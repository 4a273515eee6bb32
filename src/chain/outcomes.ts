/**
 * Counters of answers of the handler chain: `ours` for names of the cluster's domain and for the server itself, `others` for all
 * others. Table hits have other counters.
 */
import { nameOutcomes } from '../table/outcomes.ts';

export const CHAIN_OUTCOME = nameOutcomes('ours', 'others');
