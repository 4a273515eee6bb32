/**
 * The counter for hits of local names. The cluster's names and cached answers have other counters.
 */
import { nameOutcome } from '@portolan/kernel/table/outcomes.ts';

export const LOCAL_OUTCOME = nameOutcome('local');
