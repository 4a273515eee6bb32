/**
 * For listeners whose queries are all for the handler chain: no table is looked up in.
 */
import type { InstantAnswers } from './types.ts';

export const CHAIN_ONLY: InstantAnswers = { enter() {}, leave() {}, setTime() {}, answer: () => -1 };
