/**
 * A deviation: where Portolan differs from an original on purpose.
 *
 * The table of all deviations is in `table.ts`. The documentation, `-compat`, `corefile check`, `corefile survey`, `compare` and the
 * recorded cases of the tests read it.
 */
import type { DifferingReplies } from './differing-replies.ts';

/**
 * What readers can do in Portolan's way only: while the deviation is restored, the chain does it for them.
 *
 * `names`: answering names of publications; `forwarding`: asking upstream servers; `searches`: walking search lists.
 */
export type ReaderWork = 'names' | 'forwarding' | 'searches';

interface DescribedDeviation {
  /** Words in lower case with dashes. It never changes: users write it behind `-compat`, and reports show it. */
  readonly id: string;
  /** The plugins of a Corefile that have it; empty: the server has it with any Corefile. */
  readonly plugins: readonly string[];
  /** Markdown for one cell of a table: what the original does. */
  readonly original: string;
  /** The same: what Portolan does. */
  readonly portolan: string;
  /** The same: why. */
  readonly why: string;
  /** What Portolan does, in one sentence without Markdown, for reports. Default: formed of the two cells. */
  readonly text?: string;
  /** Whether a Corefile with these options of the plugin meets it. Default: each one does, but a survey does not mention it. */
  appliesTo?(options: object): boolean;
  /** Whether two replies to one question show it. Default: replies do not tell. */
  shownBy?(replies: DifferingReplies): boolean;
}

export interface RestoredDeviation extends DescribedDeviation {
  /** `-compat` makes the server do as the original does. */
  readonly inCompat: 'restored';
  /** What readers must leave to the chain while it is restored. Default: nothing. */
  readonly leavesToChain?: readonly ReaderWork[];
  /** Leaving that work to the chain is all that restores it, so each other deviation that leaves it restores this one too. */
  readonly byLeaving?: true;
}

/** A deviation that is restored only together with another one. */
export interface DependentDeviation extends DescribedDeviation {
  readonly inCompat: 'restored';
  /** The id of that one. */
  readonly with: string;
}

/** A deviation that has no switch. */
export interface LastingDeviation extends DescribedDeviation {
  readonly inCompat: 'stays';
}

export type DeviationRow = RestoredDeviation | DependentDeviation | LastingDeviation;
