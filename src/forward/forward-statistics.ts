/**
 * What is counted of forwarded questions.
 */
import type { UpstreamStatistics } from './upstream/upstream-statistics.ts';

export interface ForwardStatistics {
  /** Questions under way upstream, and questions that wait for their turn. */
  readonly inFlight: number;
  readonly queued: number;
  /** Questions that were answered with the reply to an equal one. */
  readonly coalesced: number;
  /** Refused for being too many. */
  readonly refused: number;
  /** Second servers asked because the first was slower than usual. */
  readonly hedged: number;
  /** Queries that the budget allowed for want of a reply: those that need none are not among them. */
  readonly retried: number;
  /** Records of replies that did not belong to their question. */
  readonly droppedRecords: number;
  readonly upstreams: readonly UpstreamStatistics[];
}
