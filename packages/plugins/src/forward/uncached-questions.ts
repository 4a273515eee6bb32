/**
 * Questions of types that are not cached. They are passed on as they came, as dnsmasq does: over UDP a truncated reply will do, since the
 * client asks over TCP then.
 *
 * An answer that no datagram carries makes its question dear, over TCP above all. So equal questions of one second share it: the first
 * one over TCP fetches it, or the second one over UDP.
 */
import { DEFAULT_UDP_SIZE } from '@portolan/dns/response-size.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { type QuestionKey, toCachedQuestion } from '@portolan/kernel/forward/question-key.ts';
import { type QuestionText, textOfQuestion } from '@portolan/kernel/forward/question-text.ts';
import type { CachedAnswer } from '@portolan/kernel/table/types.ts';

/** How long equal questions share an answer. */
const SHARED_SECONDS = 1;
const MAX_TRUNCATED = 1024;

export class UncachedQuestions {
  readonly #clock: Clock;
  /** By question, the oldest first: when the reply was found to be truncated. */
  readonly #truncatedAt = new Map<QuestionText, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * The question as it is passed on. What an alias leads to must be whole.
   *
   * @param isShared whether equal questions share large answers
   */
  toUncachedQuestion(query: Query, isShared: boolean): QuestionKey {
    const key = query.questionKey;
    if (query.depth > 0) return key;
    if (query.sender.transport !== 'udp') return { ...key, passedOnBy: 'tcp' };
    return isShared && this.#isTruncated(key) ? key : { ...key, passedOnBy: 'udp' };
  }

  /** Remembers that the reply over UDP is truncated. */
  noteTruncated(question: QuestionKey): void {
    const now = this.#clock.monotonic();
    for (const [text, at] of this.#truncatedAt) {
      if (this.#truncatedAt.size < MAX_TRUNCATED && isRecent(at, now)) break;
      this.#truncatedAt.delete(text);
    }
    this.#truncatedAt.set(toQuestionText(question), now);
  }

  #isTruncated(question: QuestionKey): boolean {
    if (this.#truncatedAt.size === 0) return false;
    const at = this.#truncatedAt.get(toQuestionText(question));
    return at !== undefined && isRecent(at, this.#clock.monotonic());
  }
}

/** The answer that equal questions share; undefined: none. */
export function sharedAnswer(answer: CachedAnswer): CachedAnswer | undefined {
  return answer.body.bytes.length > DEFAULT_UDP_SIZE ? { ...answer, lifetime: SHARED_SECONDS } : undefined;
}

function isRecent(at: number, now: number): boolean {
  return now - at < SHARED_SECONDS * 1000;
}

function toQuestionText(question: QuestionKey): QuestionText {
  return textOfQuestion(toCachedQuestion(question));
}
