/**
 * The notes of the torture run's writer for its readers, per name, in shared words (word 0: stop).
 */
export const WORDS_PER_NAME = 4;

/** Listener groups that the table has views for. */
export const GROUPS = 3;

export const FIELD = {
  /** The newest version whose publishing has begun. */
  ANNOUNCED: 0,
  /** The newest version whose publishing has ended: nothing older may be answered from then on. */
  PUBLISHED: 1,
  /** Odd from before a removal until after the name is back. */
  REMOVALS: 2,
} as const;

/** Behind the words of all names: how many batches each reader has read. */
export const progressWord = (names: number, reader: number): number => 1 + names * WORDS_PER_NAME + reader;

export interface Verdicts {
  answers: number;
  torn: number;
  stale: number;
  missing: number;
  ghosts: number;
  wrong: number;
}
