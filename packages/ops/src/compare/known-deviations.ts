/**
 * Names the deliberate deviation that two replies show.
 */
import type { DifferingReplies } from '@portolan/kernel/deviations/differing-replies.ts';
import { DEVIATIONS, describeDeviation, findPage } from '@portolan/kernel/deviations/table.ts';

export interface KnownDeviation {
  /** The id of its row in the table of deviations. */
  readonly name: string;
  /** What Portolan does, and why: a sentence. */
  readonly text: string;
  /** The page and section with the row. */
  readonly page: string;
}

/** The first deviation that two replies show; undefined: none is known. */
export function findDeviation(replies: DifferingReplies): KnownDeviation | undefined {
  const row = DEVIATIONS.find((each) => each.shownBy?.(replies) === true);
  return row && { name: row.id, text: describeDeviation(row), page: findPage(row.id) };
}
