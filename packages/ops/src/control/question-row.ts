/**
 * What the order `questions` sends.
 */
import type { StepOutcome } from '@portolan/server/reasons/search-walk.ts';

/** Questions of one client that are alike. */
export interface QuestionRow {
  readonly client: string;
  /** In lower case, with its final dot. */
  readonly name: string;
  readonly type: string;
  readonly outcome: StepOutcome;
  readonly count: number;
  /** From receipt to answer, of all of them. */
  readonly milliseconds: number;
  /** When the last of them came: milliseconds from the beginning of the time. */
  readonly last: number;
}

/** What follows the rows. */
export interface QuestionsEnd {
  /** The apex of the cluster's zone. */
  readonly domain: string;
  readonly seconds: number;
  readonly queries: number;
  /** Queries that were not seen: there were too many. */
  readonly lost: number;
}
