/**
 * The entries of one cache. The answer table holds the answers, together with those of all other caches. This class lists the
 * entries, with further data about them, so that each cache keeps to its own capacity.
 *
 * An answer is in one of two places: where readers find it, or where only the cache does. A question may have an answer of each
 * kind; readers find only one. They leave an answer that is *held* to the cache, which counts the questions for it.
 */
import type { WholeAnswer } from '../../chain/answer.ts';
import { replyFromBody } from '../../chain/cached-reply.ts';
import { type QuestionKey, toCachedQuestion } from '../../forward/question-key.ts';
import { type QuestionText, questionOfText, textOfQuestion } from '../../forward/question-text.ts';
import { textOfFill } from '../../forward/reader-path/fill-question.ts';
import type { FillConsumer } from '../../forward/reader-path/fill-ring.ts';
import { writeAnswerBody } from '../../table/answer-body.ts';
import type { CutBody } from '../../table/cut-body.ts';
import { hashOfEntry } from '../../table/entry-encoder.ts';
import type {
  AnswerBody,
  CachedAnswer,
  CachedEntry,
  CachedQuestion,
  ViewId,
  ViewSettings,
} from '../../table/types.ts';
import type { TableWriter } from '../../table/writer.ts';
import { encodeName, isWithin, toKey } from '../../wire/name.ts';
import { readName } from '../../wire/name-wire.ts';
import type { NameKey } from '../../wire/types.ts';
import { CACHE_OUTCOMES, type CacheKind } from './cache-counts.ts';
import { PlaceRing } from './place-ring.ts';

/**
 * Data about a cached answer. Times are whole milliseconds since the store was created. For 24 days V8 stores them in the object;
 * larger numbers and fractions would take extra memory.
 */
export interface CacheItem {
  readonly storedAt: number;
  /** Seconds for which it is fresh. */
  readonly ttl: number;
  /** Whether readers give it as the chain would. */
  readonly isReadable: boolean;
  /** Whether readers give it. */
  isShared: boolean;
  /** Whether readers find it, but leave it to the cache. */
  isHeld: boolean;
  /** Consecutive questions that it has answered, without a long pause between two of them. */
  hits: number;
  lastHit: number;
  /** Earliest time of the next attempt to refresh it. */
  retryAt: number;
}

export interface FoundAnswer {
  readonly item: CacheItem;
  /** With its TTLs at the time that it was stored. */
  readonly answer: WholeAnswer;
  /** Whether readers have given it. */
  readonly wasRead: boolean;
}

/** A reply that a reader has received, and the entry that it has made of it. */
export type ReaderReply = Pick<
  FillConsumer,
  'octets' | 'start' | 'questionEnd' | 'flags' | 'words' | 'entryWord' | 'entryLength' | 'entryLifetime'
>;

/** Cuts a stored answer; see `cutBody`. */
export type CutAnswer = (body: AnswerBody) => CutBody;

export interface CacheStoreOptions {
  /** Now, in milliseconds of the monotonic clock. */
  readonly since: number;
  readonly capacity: Readonly<Record<CacheKind, number>>;
  /** Whether answers are sent with the TTL that they were stored with. */
  readonly keepsTtl: boolean;
}

/** Entries of the table between two pauses. */
const SCANNED_AT_ONCE = 1000;

const NOTHING: ViewSettings = {
  publications: [],
  askRules: [],
  recursionAvailable: false,
  rotatesAddresses: false,
};

export class CacheStore {
  /** The view of answers that readers may give. */
  readonly shared: ViewId;
  readonly #hidden: ViewId;
  readonly #table: TableWriter;
  readonly #options: CacheStoreOptions;
  /** By question, the oldest first. */
  readonly #items: Readonly<Record<CacheKind, Map<QuestionText, CacheItem>>> = {
    success: new Map(),
    denial: new Map(),
  };
  readonly #oldest: Record<CacheKind, IterableIterator<[QuestionText, CacheItem]>> = {
    success: this.#items.success.entries(),
    denial: this.#items.denial.entries(),
  };
  /** Answers of readers, which have no item until the cache looks one up. */
  readonly #rings: Readonly<Record<CacheKind, PlaceRing>> = {
    success: new PlaceRing(),
    denial: new PlaceRing(),
  };
  /** Those of them that have one by now, by their places. */
  readonly #adopted: Readonly<Record<CacheKind, Map<number, QuestionText>>> = {
    success: new Map(),
    denial: new Map(),
  };
  /** The next item to evict, if it is known. */
  readonly #next: Record<CacheKind, readonly [QuestionText, CacheItem] | undefined> = {
    success: undefined,
    denial: undefined,
  };
  #users = 1;

  constructor(table: TableWriter, options: CacheStoreOptions) {
    this.#table = table;
    this.#options = options;
    this.shared = table.defineView(NOTHING);
    this.#hidden = table.defineView(NOTHING);
  }

  /** Start of the times of items, in milliseconds of the monotonic clock. */
  get since(): number {
    return this.#options.since;
  }

  sizeOf(kind: CacheKind): number {
    return this.#items[kind].size + this.#rings[kind].size - this.#adopted[kind].size;
  }

  /** Whether it has an answer, of any age. */
  has(kind: CacheKind, key: QuestionKey): boolean {
    if (this.sizeOf(kind) === 0) return false;
    const question = toCachedQuestion(key);
    return this.#itemOf(kind, textOfQuestion(question), question) !== undefined;
  }

  /** @param cut keeps the records of a stored answer that the response has room for */
  find(kind: CacheKind, key: QuestionKey, cut: CutAnswer = uncut): FoundAnswer | undefined {
    const question = toCachedQuestion(key);
    const text = textOfQuestion(question);
    const item = this.#itemOf(kind, text, question);
    if (item === undefined) return undefined;
    const entry = this.#table.readCached(question, this.#placeOf(item));
    // The table has evicted it.
    if (entry === undefined) this.#items[kind].delete(text);
    return entry && { item, answer: answerOf(entry, cut(entry.body)), wasRead: item.isShared && entry.used };
  }

  /**
   * @param now milliseconds of the monotonic clock
   * @returns `evicted`: another answer was evicted; `refused`: the answer cannot be stored
   */
  put(
    kind: CacheKind,
    key: QuestionKey,
    answer: WholeAnswer,
    { ttl, readSeconds, now }: { readonly ttl: number; readonly readSeconds: number; readonly now: number },
  ): 'stored' | 'evicted' | 'refused' {
    const written = this.#users > 0 ? writeAnswerBody(key, { ...answer, authoritative: true }) : undefined;
    if (written === undefined) return 'refused';
    const isReadable = isReadAsStored(answer, written.body.rotation !== undefined);
    const isShared = isReadable && readSeconds > 0;
    const question = toCachedQuestion(key);
    const text = textOfQuestion(question);
    if (isShared) this.#hide(otherThan(kind), text, question);
    const isHeld = !isShared && this.#itemOf(otherThan(kind), text, question) === undefined;
    const cached: CachedAnswer = {
      ...question,
      body: written.body,
      ttlOffsets: this.#options.keepsTtl ? [] : written.ttlOffsets,
      recursionAvailable: answer.recursionAvailable,
      ...lifeOf(ttl, isShared ? readSeconds : 0, now),
      outcome: CACHE_OUTCOMES[kind],
      passedErrors: answer.passedErrors,
    };
    if (!this.#table.cache(cached, now, isShared || isHeld ? this.shared : this.#hidden)) return 'refused';
    const item = this.#makeItem(ttl, isReadable, isShared, isHeld, now);
    return this.#keep(kind, text, item) ? 'evicted' : 'stored';
  }

  /** Stores an entry that a reader has made, held or not, unless the question has an answer of the other kind. */
  putEncoded(
    kind: CacheKind,
    reply: ReaderReply,
    { isHeld, now }: { readonly isHeld: boolean; readonly now: number },
  ): 'stored' | 'evicted' | 'refused' {
    if (this.#users === 0) return 'refused';
    const [items, others] = [this.#items[kind], this.#items[otherThan(kind)]];
    const text = isHeld || items.size > 0 || others.size > 0 ? textOfFill(reply) : undefined;
    if (text !== undefined && others.has(text)) return 'refused';
    const { words, entryWord, entryLength } = reply;
    const place = this.#table.cacheEncoded(words, entryWord, entryLength, this.shared);
    if (place === 0) return 'refused';
    if (isHeld && text !== undefined) {
      const item = this.#makeItem(reply.entryLifetime, true, false, true, now);
      return this.#keep(kind, text, item) ? 'evicted' : 'stored';
    }
    if (text !== undefined) this.#forgetItem(kind, text, true);
    const isFull = this.sizeOf(kind) >= this.#options.capacity[kind];
    if (isFull) this.#evictOldest(kind);
    this.#rings[kind].push(place, hashOfEntry(words, entryWord), Math.floor(now - this.since));
    return isFull ? 'evicted' : 'stored';
  }

  /** The item of a question; it makes that of an answer of a reader. */
  #itemOf(kind: CacheKind, text: QuestionText, question: CachedQuestion): CacheItem | undefined {
    const known = this.#items[kind].get(text);
    if (known !== undefined || this.#rings[kind].size === 0) return known;
    const entry = this.#table.readCached(question, this.shared);
    if (entry === undefined || entry.outcome !== CACHE_OUTCOMES[kind]) return undefined;
    const item = this.#itemOfReader(entry);
    this.#items[kind].set(text, item);
    this.#adopted[kind].set(entry.place, text);
    return item;
  }

  #itemOfReader({ stored, expires }: CachedEntry): CacheItem {
    return this.#makeItem(expires - stored, true, true, false, stored * 1000);
  }

  /** Another answer takes the place of this item's. @param isSameView whether it is where readers look */
  #forgetItem(kind: CacheKind, text: QuestionText, isSameView: boolean): void {
    const item = this.#items[kind].get(text);
    if (item === undefined) return;
    this.#items[kind].delete(text);
    if (isSameView && this.#placeOf(item) === this.shared) return;
    this.#table.dropCached(questionOfText(text), this.#placeOf(item));
  }

  #makeItem(ttl: number, isReadable: boolean, isShared: boolean, isHeld: boolean, now: number): CacheItem {
    const storedAt = Math.floor(now - this.since);
    // Written out, since it is made for each answer.
    return {
      storedAt,
      ttl,
      isReadable,
      isShared,
      isHeld,
      hits: 0,
      lastHit: storedAt,
      retryAt: storedAt,
    };
  }

  /** Lets readers give an answer, in place of one of the other kind. @param seconds until readers stop, from when it was stored */
  share(kind: CacheKind, key: QuestionKey, item: CacheItem, seconds: number): void {
    if (seconds <= 0 || !item.isReadable || item.isShared || this.#users === 0) return;
    const question = toCachedQuestion(key);
    this.#hide(otherThan(kind), textOfQuestion(question), question);
    item.isShared = this.#move(question, item, this.shared, seconds);
    if (item.isShared) item.isHeld = false;
  }

  remove(kind: CacheKind, key: QuestionKey): void {
    const question = toCachedQuestion(key);
    const text = textOfQuestion(question);
    const item = this.#itemOf(kind, text, question);
    if (item === undefined) return;
    this.#items[kind].delete(text);
    this.#table.dropCached(question, this.#placeOf(item));
  }

  /** The answers of a kind, the oldest first. Answers may be removed and added between two of them. */
  *stored(kind: CacheKind): Iterable<{ readonly item: CacheItem; readonly entry: CachedEntry }> {
    for (const [text, item] of this.#items[kind]) {
      const entry = this.#table.readCached(questionOfText(text), this.#placeOf(item));
      if (entry !== undefined) yield { item, entry };
    }
    if (this.#rings[kind].size > 0) yield* this.#storedByReaders(kind);
  }

  *#storedByReaders(kind: CacheKind): Iterable<{ readonly item: CacheItem; readonly entry: CachedEntry }> {
    for (const isUsed of [false, true])
      for (let from = 0, next = 1; next !== 0; from = next) {
        const part = this.#table.scanCached(from, SCANNED_AT_ONCE, () => true, this.shared, isUsed);
        next = part.next;
        for (const entry of part.found)
          if (entry.outcome === CACHE_OUTCOMES[kind] && !this.#items[kind].has(textOfQuestion(entry)))
            yield { item: this.#itemOfReader(entry), entry };
      }
  }

  /** Drops the answers for a name and all names below it. */
  removeWithin(domain: NameKey): void {
    if (Object.values(this.#rings).some(({ size }) => size > 0))
      this.#table.dropCachedWithin(encodeName(domain));
    for (const items of Object.values(this.#items))
      for (const [text, item] of items) {
        const question = questionOfText(text);
        if (!isWithin(toKey(readName(question.name, 0).name), domain)) continue;
        items.delete(text);
        this.#table.dropCached(question, this.#placeOf(item));
      }
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
    for (const items of Object.values(this.#items)) items.clear();
    for (const ring of Object.values(this.#rings)) ring.clear();
    for (const adopted of Object.values(this.#adopted)) adopted.clear();
    this.#table.removeView(this.shared);
    this.#table.removeView(this.#hidden);
  }

  #placeOf({ isShared, isHeld }: CacheItem): ViewId {
    return isShared || isHeld ? this.shared : this.#hidden;
  }

  /** @returns whether another answer was evicted */
  #keep(kind: CacheKind, text: QuestionText, item: CacheItem): boolean {
    const items = this.#items[kind];
    const former = items.get(text);
    if (former !== undefined && this.#placeOf(former) !== this.#placeOf(item))
      this.#table.dropCached(questionOfText(text), this.#placeOf(former));
    const isFull = former === undefined && this.sizeOf(kind) >= this.#options.capacity[kind];
    if (former !== undefined) items.delete(text);
    if (isFull) this.#evictOldest(kind);
    items.set(text, item);
    return isFull;
  }

  #hide(kind: CacheKind, text: QuestionText, question: CachedQuestion): void {
    const item = this.#itemOf(kind, text, question);
    if (item === undefined || this.#placeOf(item) === this.#hidden) return;
    this.#move(question, item, this.#hidden, 0);
    item.isShared = false;
    item.isHeld = false;
  }

  /** @param seconds for which readers may give it, from when it was stored */
  #move(question: CachedQuestion, item: CacheItem, to: ViewId, seconds: number): boolean {
    const from = this.#placeOf(item);
    const entry = this.#table.readCached(question, from);
    if (entry === undefined) return false;
    const { body, ttlOffsets, recursionAvailable, outcome, passedErrors, stored } = entry;
    const life = lifeOf(item.ttl, seconds, stored * 1000);
    const answer = { ...question, body, ttlOffsets, recursionAvailable, outcome, passedErrors, ...life };
    if (!this.#table.cache(answer, stored * 1000, to)) return false;
    if (from !== to) this.#table.dropCached(question, from);
    return true;
  }

  /**
   * Continues after the last eviction. An iteration from the start would pass the empty slots of all evicted items each time.
   */
  #nextOldest(kind: CacheKind): readonly [QuestionText, CacheItem] | undefined {
    const next = this.#oldest[kind].next();
    if (next.done !== true) return next.value;
    this.#oldest[kind] = this.#items[kind].entries();
    const first = this.#oldest[kind].next();
    return first.done === true ? undefined : first.value;
  }

  #oldestItem(kind: CacheKind): readonly [QuestionText, CacheItem] | undefined {
    const known = this.#next[kind];
    if (known === undefined || this.#items[kind].get(known[0]) !== known[1])
      this.#next[kind] = this.#nextOldest(kind);
    return this.#next[kind];
  }

  #evictOldest(kind: CacheKind): void {
    const oldest = this.#oldestItem(kind);
    const ring = this.#rings[kind];
    if (ring.size > 0 && ring.oldestTime <= (oldest?.[1].storedAt ?? Number.POSITIVE_INFINITY)) {
      this.#evictOfReader(kind, ring);
      return;
    }
    this.#next[kind] = undefined;
    if (oldest === undefined) return;
    const [text, item] = oldest;
    this.#items[kind].delete(text);
    this.#table.dropCached(questionOfText(text), this.#placeOf(item));
  }

  #evictOfReader(kind: CacheKind, ring: PlaceRing): void {
    const { place, hash } = ring.shift();
    const isDropped = this.#table.dropCachedAt(place, hash, this.shared);
    const adopted = this.#adopted[kind];
    // Answers in use have moved in the table. From now on their items alone stand for them.
    if (adopted.size > ring.size) adopted.clear();
    const text = adopted.size === 0 ? undefined : adopted.get(place);
    if (text === undefined) return;
    adopted.delete(place);
    if (isDropped) this.#items[kind].delete(text);
  }
}

/**
 * @param ttl seconds
 * @param seconds for which readers may give it
 * @param now when it is stored, in milliseconds
 */
function lifeOf(
  ttl: number,
  seconds: number,
  now: number,
): Pick<CachedAnswer, 'lifetime' | 'freshUntil' | 'isHeldOnceStale'> {
  if (seconds >= ttl) return { lifetime: ttl };
  return { lifetime: ttl, freshUntil: Math.floor(now / 1000) + seconds, isHeldOnceStale: true };
}

function otherThan(kind: CacheKind): CacheKind {
  return kind === 'success' ? 'denial' : 'success';
}

/** Whether readers may give the answer: they only rotate one set of addresses, and shuffle no other records. */
export function isReadAsStored({ answers }: WholeAnswer, hasRotation: boolean): boolean {
  const count = (kinds: readonly string[]) => answers.filter(({ data }) => kinds.includes(data.kind)).length;
  return (hasRotation || count(['A', 'AAAA']) < 2) && count(['MX']) < 2;
}

const uncut: CutAnswer = (body) => ({ body, isCut: false });

function answerOf(entry: CachedEntry, { body, isCut }: CutBody): WholeAnswer {
  const { rcode, authenticData, answers, authorities, additionals } = replyFromBody(entry, body, 0);
  return {
    kind: 'message',
    ...{ rcode, authenticData, answers, authorities, additionals },
    // Some old clients discard answers without it.
    authoritative: true,
    truncated: isCut,
    recursionAvailable: entry.recursionAvailable,
    passedErrors: entry.passedErrors,
  };
}
