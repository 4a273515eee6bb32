/**
 * Answers of handlers to queries: the contract of plugins has them.
 */
export type { Answer, Denial, Forwarded, OwnEdns, WholeAnswer } from '@portolan/plugin';
