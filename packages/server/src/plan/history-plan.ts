/**
 * What a server remembers of failures and of changes.
 */

/** How names of questions and addresses of clients are kept: as they are, as hashes, or not at all. */
export const HISTORY_NAMES = ['plain', 'hashed', 'none'] as const;

export interface HistoryPlan {
  /** Of memory at most, and of the files together. */
  readonly octets: number;
  /** Where it survives a restart; undefined: it does not. */
  readonly file: string | undefined;
  readonly names: (typeof HISTORY_NAMES)[number];
}

export const DEFAULT_HISTORY: HistoryPlan = { octets: 16 * 2 ** 20, file: undefined, names: 'plain' };
