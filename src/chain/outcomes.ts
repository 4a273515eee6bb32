/**
 * Counters of answers of the handler chain. `ours`: names of the cluster's domain, and the server itself. `others`: all others.
 * Table hits have other counters.
 */
import { nameOutcomes } from '../table/outcomes.ts';

export const CHAIN_OUTCOME = nameOutcomes('ours', 'others');
