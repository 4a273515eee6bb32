/**
 * Counts of forwarded questions.
 */
import type { UpstreamStatistics } from './upstream/upstream-statistics.ts';

export interface ForwardStatistics {
  /** Questions in flight upstream, and waiting questions. */
  readonly inFlight: number;
  readonly queued: number;
  /** Questions answered by the reply to an equal one. */
  readonly coalesced: number;
  /** Questions refused because there were too many. */
  readonly refused: number;
  /** Second servers asked because the first was slower than usual. */
  readonly hedged: number;
  /** Queries after a missing reply that the budget allowed; queries that need no budget are not included. */
  readonly retried: number;
  /** Records of replies that did not belong to their question. */
  readonly droppedRecords: number;
  readonly upstreams: readonly UpstreamStatistics[];
}
