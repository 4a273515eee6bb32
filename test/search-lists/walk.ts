/**
 * What a resolver library asks for: a name, the settings of its resolv.conf, and the answer to each question.
 */
import type { ResolverLibrary, SearchSettings, StepOutcome } from '@portolan/server/reasons/search-walk.ts';
import { readRecording } from '../support/recordings.ts';

export interface Walk extends SearchSettings {
  readonly name: string;
  /** Of the questions in their order; all later ones have NXDOMAIN. */
  readonly outcomes: readonly StepOutcome[];
}

/** The names that each library asked for, without repetitions. */
export interface RecordedWalk extends Walk {
  readonly asked: Readonly<Record<ResolverLibrary, readonly string[]>>;
}

/** Recorded with glibc 2.36, musl 1.2.3 and Go 1.26. */
export function readWalks(): readonly RecordedWalk[] {
  return readRecording<RecordedWalk>('test/search-lists/walks.jsonl');
}
