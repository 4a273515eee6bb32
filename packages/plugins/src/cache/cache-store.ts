/**
 * The answers of one cache by the rules of CoreDNS. They lie in the answer table, together with those of all other caches. This class
 * lists their places, so that each kind keeps to its own capacity.
 *
 * A question may have an answer of each kind. Readers find the first one; the second one is hidden from them. They leave an answer that
 * is *held* to the cache, which counts the questions for it.
 */
import { encodeName } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { WholeAnswer } from '@portolan/kernel/chain/answer.ts';
import { CACHE_OUTCOMES } from '@portolan/kernel/chain/outcomes.ts';
import { isReadAsStored } from '@portolan/kernel/chain/whole-answer.ts';
import { type QuestionKey, toCachedQuestion } from '@portolan/kernel/forward/question-key.ts';
import type { FillConsumer } from '@portolan/kernel/forward/reader-path/fill-ring.ts';
import { writeAnswerBody } from '@portolan/kernel/table/answer-body.ts';
import type { CachedWatcher } from '@portolan/kernel/table/cache.ts';
import type { CachedAnswer, CachedEntry, ViewId, ViewSettings } from '@portolan/kernel/table/types.ts';
import type { TableWriter } from '@portolan/kernel/table/writer.ts';
import type { CacheKind } from './cache-metrics.ts';
import { PlaceRing } from './place-ring.ts';

export interface StoredAnswer {
  readonly kind: CacheKind;
  /** With its TTLs at the time that it was stored. */
  readonly entry: CachedEntry;
  readonly isHidden: boolean;
}

/** An entry that a reader has made of a reply. */
export type ReaderEntry = Pick<FillConsumer, 'words' | 'entryWord' | 'entryLength'>;

export interface CacheStoreOptions {
  readonly capacity: Readonly<Record<CacheKind, number>>;
  /** Whether answers are sent with the TTL that they were stored with. */
  readonly keepsTtl: boolean;
  /** Whether an expired answer stays beside one of the other kind. */
  readonly keepsExpired: boolean;
}

/** Of an answer in the table. */
type EntryPlace = readonly [place: number, hash: number];

type Stored = 'stored' | 'evicted' | 'refused';

/** Entries of the table between two pauses. */
const SCANNED_AT_ONCE = 1000;

const NOTHING: ViewSettings = {
  publications: [],
  askRules: [],
  recursionAvailable: false,
  rotatesAddresses: false,
};

export class CacheStore {
  /** The view of answers that readers find. */
  readonly shared: ViewId;
  readonly #hidden: ViewId;
  /** Whether an answer was ever hidden. */
  #hides = false;
  readonly #table: TableWriter;
  readonly #options: CacheStoreOptions;
  readonly #rings: Readonly<Record<CacheKind, PlaceRing>>;
  readonly #endWatching: readonly (() => void)[];
  #users = 1;

  constructor(table: TableWriter, options: CacheStoreOptions) {
    this.#table = table;
    this.#options = options;
    this.shared = table.defineView(NOTHING);
    this.#hidden = table.defineView(NOTHING);
    const isThere = (...at: EntryPlace) => this.#isThere(...at);
    this.#rings = { success: new PlaceRing(isThere), denial: new PlaceRing(isThere) };
    const watcher: CachedWatcher = {
      added: (outcome, ...at) => this.#findRing(outcome)?.push(...at),
      gone: (outcome) => this.#findRing(outcome)?.noteGone(),
      moved: (outcome, ...to) => this.#findRing(outcome)?.noteMoved(...to),
    };
    this.#endWatching = [this.shared, this.#hidden].map((view) => table.watchCached(view, watcher));
  }

  /** Those that are there now, of any age. */
  countEntries(kind: CacheKind): number {
    return this.#rings[kind].size;
  }

  /** The answers to a question, of any age. */
  find(key: QuestionKey): Partial<Readonly<Record<CacheKind, StoredAnswer>>> {
    if (this.#users === 0) return {};
    const question = toCachedQuestion(key);
    const first = toStoredAnswer(this.#table.readCached(question, this.shared), false);
    const second = this.#hides
      ? toStoredAnswer(this.#table.readCached(question, this.#hidden), true)
      : undefined;
    return { ...(second && { [second.kind]: second }), ...(first && { [first.kind]: first }) };
  }

  /**
   * @param readSeconds how long readers may serve it, unless the question has an answer of the other kind
   * @param now milliseconds of the monotonic clock
   * @returns `evicted`: another answer was evicted; `refused`: the answer cannot be stored
   */
  put(
    kind: CacheKind,
    key: QuestionKey,
    answer: WholeAnswer,
    { ttl, readSeconds, now }: { readonly ttl: number; readonly readSeconds: number; readonly now: number },
  ): Stored {
    const written = this.#users > 0 ? writeAnswerBody(key, { ...answer, authoritative: true }) : undefined;
    if (written === undefined) return 'refused';
    const question = toCachedQuestion(key);
    const second = Math.floor(now / 1000);
    const first = this.#table.readCached(question, this.shared);
    const isHidden =
      first !== undefined && first.outcome !== CACHE_OUTCOMES[kind] && first.expires > this.#until(second);
    const isRead = !isHidden && isReadAsStored(answer, written.body.rotation !== undefined);
    const cached: CachedAnswer = {
      ...question,
      body: written.body,
      ttlOffsets: this.#options.keepsTtl ? [] : written.ttlOffsets,
      recursionAvailable: answer.recursionAvailable,
      ...computeFreshness(ttl, isRead ? readSeconds : 0, second),
      outcome: CACHE_OUTCOMES[kind],
      passedErrors: answer.passedErrors,
    };
    this.#hides ||= isHidden;
    if (!this.#table.cache(cached, now, isHidden ? this.#hidden : this.shared)) return 'refused';
    return this.#bound(kind);
  }

  /** Stores an entry that a reader has made, unless the question has an answer of the other kind. */
  putEncoded(kind: CacheKind, { words, entryWord, entryLength }: ReaderEntry, now: number): Stored {
    const until = this.#until(Math.floor(now / 1000));
    if (this.#users === 0 || !this.#table.cacheEncoded(words, entryWord, entryLength, this.shared, until))
      return 'refused';
    return this.#bound(kind);
  }

  /**
   * Lets readers give an answer, before one of the other kind.
   *
   * @param isReadable whether they give it as the chain would
   * @param seconds until they stop, from when it was stored
   * @returns milliseconds of the monotonic clock, until which they give it; undefined: they do not
   */
  share({ entry, isHidden }: StoredAnswer, isReadable: boolean, seconds: number): number | undefined {
    if (!isHidden && entry.freshUntil > entry.stored) return entry.freshUntil * 1000;
    if (seconds <= 0 || !isReadable || this.#users === 0) return undefined;
    if (isHidden) {
      this.#table.dropCached(entry, this.#hidden);
      const other = toStoredAnswer(this.#table.readCached(entry, this.shared), false);
      if (other !== undefined) this.#write(other, 0, this.#hidden);
    }
    return this.#write({ entry }, seconds, this.shared) ? (entry.stored + seconds) * 1000 : undefined;
  }

  remove({ entry, isHidden }: StoredAnswer): void {
    this.#table.dropCached(entry, isHidden ? this.#hidden : this.shared);
  }

  /** All answers. They may change between two of them. @param isUsed whether those that readers have given, or all others */
  *stored(isUsed: boolean): Iterable<StoredAnswer> {
    for (const isHidden of this.#users === 0 ? [] : [false, true])
      for (let from = 0, next = 1; next !== 0; from = next) {
        const view = isHidden ? this.#hidden : this.shared;
        const part = this.#table.scanCached(from, SCANNED_AT_ONCE, () => true, view, isUsed);
        next = part.next;
        for (const entry of part.found) {
          const stored = toStoredAnswer(entry, isHidden);
          if (stored !== undefined) yield stored;
        }
      }
  }

  /** Drops the answers for a name and all names below it. */
  removeWithin(domain: NameKey): void {
    this.#table.dropCachedWithin(encodeName(domain));
  }

  /** Another cache has the same entries from now on. */
  retain(): this {
    this.#users += 1;
    return this;
  }

  /** Frees its space in the table once no server block uses it. */
  release(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    for (const end of this.#endWatching) end();
    for (const ring of Object.values(this.#rings)) ring.clear();
    this.#table.removeView(this.shared);
    this.#table.removeView(this.#hidden);
  }

  /** An answer of the other kind gives way unless it expires later. */
  #until(now: number): number {
    return this.#options.keepsExpired ? 0 : now;
  }

  /** Rewrites a stored answer. @param seconds how long readers may serve it, from when it was stored */
  #write({ entry }: Pick<StoredAnswer, 'entry'>, seconds: number, view: ViewId): boolean {
    const answer = { ...entry, ...computeFreshness(entry.lifetime, seconds, entry.stored) };
    return this.#table.cache(answer, entry.storedAt, view);
  }

  /** Evicts what is more than the capacity. */
  #bound(kind: CacheKind): Stored {
    const ring = this.#rings[kind];
    let stored: Stored = 'stored';
    while (ring.size > this.#options.capacity[kind] && ring.dropOldest((...at) => this.#dropAt(...at)))
      stored = 'evicted';
    return stored;
  }

  #dropAt(...at: EntryPlace): boolean {
    return (
      this.#table.dropCachedAt(...at, this.shared) ||
      (this.#hides && this.#table.dropCachedAt(...at, this.#hidden))
    );
  }

  #isThere(...at: EntryPlace): boolean {
    return (
      this.#table.hasCachedAt(...at, this.shared) ||
      (this.#hides && this.#table.hasCachedAt(...at, this.#hidden))
    );
  }

  /** Undefined: no answer of this cache. */
  #findRing(outcome: number): PlaceRing | undefined {
    const kind = toCacheKind(outcome);
    return kind && this.#rings[kind];
  }
}

function toCacheKind(outcome: number): CacheKind | undefined {
  if (outcome === CACHE_OUTCOMES.success) return 'success';
  return outcome === CACHE_OUTCOMES.denial ? 'denial' : undefined;
}

function toStoredAnswer(entry: CachedEntry | undefined, isHidden: boolean): StoredAnswer | undefined {
  const kind = entry && toCacheKind(entry.outcome);
  return entry && kind && { kind, entry, isHidden };
}

/**
 * @param ttl seconds
 * @param seconds how long readers may serve it
 * @param now when it is stored, in seconds
 */
function computeFreshness(
  ttl: number,
  seconds: number,
  now: number,
): Pick<CachedAnswer, 'lifetime' | 'freshUntil' | 'isHeldOnceStale'> {
  return { lifetime: ttl, freshUntil: now + Math.min(seconds, ttl), isHeldOnceStale: seconds < ttl };
}
