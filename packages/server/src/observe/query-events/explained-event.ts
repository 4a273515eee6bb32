/**
 * What the main thread knows of an answer: where it came from, and why it has no records. The thread of the query log asks for it, at
 * most for a few questions at a time, so that a flood of names does not keep the main thread from answering.
 */
import type { QueryEvent } from '@portolan/kernel/listen/query-events/event-reader.ts';

/** The parts of an event that an explanation depends on. */
export type ExplainedEvent = Pick<
  QueryEvent,
  'received' | 'source' | 'client' | 'responseFlags' | 'answers' | 'question'
>;

export interface EventExplanation {
  /** `cluster`, `local`, `cache`, `stale`, `upstream` or `block`. */
  readonly source: string;
  /** As in the page of reasons; undefined: the answer has records, or nobody knows. */
  readonly reason: string | undefined;
}

/** Explains events; undefined for those that it cannot explain. */
export type ExplainEvents = (
  events: readonly ExplainedEvent[],
) => Promise<readonly (EventExplanation | undefined)[]>;

/** Copies an event for another thread: its parts share memory with other events. */
export function copyExplained({
  received,
  source,
  client,
  responseFlags,
  answers,
  question,
}: QueryEvent): ExplainedEvent {
  return {
    received,
    source,
    responseFlags,
    answers,
    client: Uint8Array.from(client),
    question: Uint8Array.from(question),
  };
}

/** Events with the same key have the same explanation, for a while. */
export function explanationKey({ source, responseFlags, answers, question }: QueryEvent): string {
  const name = Buffer.from(question.buffer, question.byteOffset, question.length).toString('latin1');
  return `${source} ${responseFlags & 0x0f} ${answers > 0} ${name.toLowerCase()}`;
}
