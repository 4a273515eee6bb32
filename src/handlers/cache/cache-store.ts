/**
 * The entries of one cache. The answers lie in the answer table, together with those of all others; here is which there are, so
 * that each cache keeps to its own capacity, and what is known of them beside the answers.
 */
import type { WholeAnswer } from '../../chain/answer.ts';
import { type QuestionKey, toCachedQuestion } from '../../forward/question-key.ts';
import { writeAnswerBody } from '../../table/answer-body.ts';
import type { CachedEntry, ViewId } from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { replyFromBody } from '../resolver/cached-reply.ts';

/** What is known of a cached answer. Times are of the clock's monotonic time, in milliseconds. */
export interface CacheItem {
  readonly storedAt: number;
  /** Seconds that it is fresh for. */
  readonly ttl: number;
  /** Questions that it was given for, none of them too long after the one before. */
  hits: number;
  lastHit: number;
  isRefreshing: boolean;
  /** Before it, no attempt is made to get a fresh one. */
  retryAt: number;
}

export interface FoundAnswer {
  readonly item: CacheItem;
  /** With the TTLs that it was stored with. */
  readonly answer: WholeAnswer;
}

/** The outcome that readers would count hits under. */
const OUTCOME = 0;

export class CacheStore {
  readonly #table: TableWriter;
  readonly #capacity: number;
  readonly #view: ViewId;
  /** By question, the oldest first. */
  readonly #items = new Map<string, CacheItem>();

  constructor(table: TableWriter, capacity: number) {
    this.#table = table;
    this.#capacity = capacity;
    // Nobody but this cache looks here.
    this.#view = table.defineView({
      publications: [],
      askRules: [],
      recursionAvailable: false,
      rotatesAddresses: false,
    });
  }

  get size(): number {
    return this.#items.size;
  }

  find(key: QuestionKey): FoundAnswer | undefined {
    const text = textOf(key);
    const item = this.#items.get(text);
    if (item === undefined) return undefined;
    const entry = this.#table.readCached(toCachedQuestion(key), this.#view);
    // The table needed its space.
    if (entry === undefined) this.#items.delete(text);
    return entry && { item, answer: answerOf(entry) };
  }

  /**
   * @param now milliseconds of the monotonic clock
   * @returns whether another answer had to go
   */
  put(key: QuestionKey, answer: WholeAnswer, ttl: number, now: number): boolean {
    const written = writeAnswerBody(key, {
      rcode: answer.rcode,
      authoritative: true,
      authenticData: answer.authenticData,
      answers: answer.answers,
      authorities: answer.authorities,
      additionals: answer.additionals,
    });
    if (written === undefined) return false;
    const cached = {
      ...toCachedQuestion(key),
      ...written,
      recursionAvailable: answer.recursionAvailable,
      lifetime: ttl,
      outcome: OUTCOME,
    };
    if (!this.#table.cache(cached, now, this.#view)) return false;
    const text = textOf(key);
    const isFull = !this.#items.delete(text) && this.#items.size >= this.#capacity;
    if (isFull) this.#evictOldest();
    this.#items.set(text, {
      ...{ storedAt: now, ttl, hits: 0, lastHit: now },
      ...{ isRefreshing: false, retryAt: Number.NEGATIVE_INFINITY },
    });
    return isFull;
  }

  remove(key: QuestionKey): void {
    if (this.#items.delete(textOf(key))) this.#table.dropCached(toCachedQuestion(key), this.#view);
  }

  /** Frees what it has in the table. */
  close(): void {
    this.#items.clear();
    this.#table.removeView(this.#view);
  }

  #evictOldest(): void {
    const [oldest] = this.#items.keys();
    if (oldest !== undefined) this.#items.delete(oldest);
  }
}

function textOf({ name, type, class: dnsClass, dnssecOk, checkingDisabled }: QuestionKey): string {
  return `${name} ${type} ${dnsClass}${dnssecOk ? ' do' : ''}${checkingDisabled ? ' cd' : ''}`;
}

function answerOf(entry: CachedEntry): WholeAnswer {
  const { rcode, authenticData, answers, authorities, additionals } = replyFromBody(entry, entry.body, 0);
  return {
    kind: 'message',
    ...{ rcode, authenticData, answers, authorities, additionals },
    // Some old clients discard answers without it.
    authoritative: true,
    truncated: false,
    recursionAvailable: entry.recursionAvailable,
  };
}
