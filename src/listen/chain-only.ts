/**
 * For listeners whose queries all go to the handler chain: there is no table to look up.
 */
import type { InstantAnswers } from './types.ts';

export const CHAIN_ONLY: InstantAnswers = { enter() {}, leave() {}, setTime() {}, answer: () => -1 };
