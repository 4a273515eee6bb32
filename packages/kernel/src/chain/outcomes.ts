/**
 * Counters of answers, by what made them.
 */
import { nameOutcomes, numberEntries } from '../table/outcomes.ts';

/**
 * Of answers of the handler chain. `ours`: names of the cluster's domain, and the server itself. `others`: all others. Table hits have
 * other counters.
 */
export const CHAIN_OUTCOME = nameOutcomes('ours', 'others');

/** Of hits of cached answers, where a process has one cache. Names of the cluster have others. */
export const RESOLVER_OUTCOME = nameOutcomes('answered', 'stale');

/** Of the entries of a block's cache. */
export const CACHE_OUTCOMES: Readonly<Record<'success' | 'denial', number>> = numberEntries(
  'success',
  'denial',
);
