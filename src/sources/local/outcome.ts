/**
 * The counter that hits of local names add to. Those of the cluster's names and of cached answers have others.
 */
import { nameOutcome } from '../../table/outcomes.ts';

export const LOCAL_OUTCOME = nameOutcome('local');
