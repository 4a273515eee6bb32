/**
 * One side of a comparison.
 */
import type { Message } from '@portolan/dns/types.ts';
import type { AskedQuestion } from './asked-question.ts';

export interface QueryResponder {
  /** Asks once. Never rejects. @param byStream over TCP, for a reply that did not fit */
  ask(question: AskedQuestion, byStream: boolean): Promise<QueryResponderReply>;
  close(): void | Promise<void>;
}

export type QueryResponderReply =
  /** @property milliseconds from sending to receiving */
  | { readonly kind: 'replied'; readonly message: Message; readonly milliseconds: number }
  | { readonly kind: 'failed'; readonly reason: UnansweredReason };

/** A few reasons, by which failures are counted. */
export type UnansweredReason = 'no reply' | 'connection refused' | 'connection closed' | 'malformed reply';
