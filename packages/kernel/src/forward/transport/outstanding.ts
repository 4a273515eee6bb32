/**
 * Outstanding queries of one socket or connection, by id; judges incoming packets.
 */
import { tryDecodeMessage } from '@portolan/dns/message.ts';
import type { Message } from '@portolan/dns/types.ts';
import { repeatsCase, restoreCase } from './name-case.ts';
import {
  idOfReply,
  isBareError,
  type QueryMessage,
  repeatsOpcode,
  repeatsQuestion,
  withId,
} from './query-message.ts';
import { randomId } from './random-ids.ts';
import type { DroppedPackets, ExchangeEvents } from './transport.ts';

export interface OutstandingQuery {
  readonly query: QueryMessage;
  readonly events: ExchangeEvents;
  /** Its message id here, set when it is added. */
  id: number;
  /** Called for the reply to a query with random case. If the reply has a different case, no other callback follows. */
  judgeCase?(isKept: boolean): void;
}

/**
 * Places for queries, by the lower bits of their ids: the maximum on one socket. A power of two. Not a `Map`, for the
 * reason given in `QuestionTable`.
 */
const PLACES = 2048;
/** Random ids to try for a free place, before the socket counts as full. */
const DRAWS = 64;

export class Outstanding<Entry extends OutstandingQuery> {
  readonly #places: (Entry | undefined)[];
  /** The last id at each place: a late or duplicate reply is not a forgery. */
  readonly #lastIds: Uint16Array;
  readonly #dropped: DroppedPackets;
  readonly #isForged: (reply: Message) => boolean;
  #size = 0;
  #suspicious = 0;

  /**
   * @param dropped counters to increment
   * @param isForged whether a reply's content shows that it does not belong to the query
   * @param places maximum of queries, a power of two
   */
  constructor(dropped: DroppedPackets, isForged: (reply: Message) => boolean = () => false, places = PLACES) {
    this.#dropped = dropped;
    this.#isForged = isForged;
    this.#places = Array.from({ length: places }, () => undefined);
    this.#lastIds = new Uint16Array(places);
  }

  /** Packets that only a forger can have sent: with an unused id, or with another question. */
  get suspicious(): number {
    return this.#suspicious;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a query. @returns the packet to send; undefined if there is no room */
  add(entry: Entry): Uint8Array | undefined {
    return this.admit(entry) ? withId(entry.query, entry.id) : undefined;
  }

  /** Adds a query, and assigns its id. @returns whether there was room */
  admit(entry: Entry): boolean {
    for (let draw = 0; draw < DRAWS; draw += 1) {
      const id = randomId();
      const place = id % this.#places.length;
      if (this.#places[place] !== undefined) continue;
      entry.id = id;
      this.#places[place] = entry;
      this.#size += 1;
      return true;
    }
    return false;
  }

  /** Removes a query. If its place belongs to another query by now, that one stays. */
  remove(entry: Entry): void {
    const place = entry.id % this.#places.length;
    if (this.#places[place] !== entry) return;
    this.#places[place] = undefined;
    this.#lastIds[place] = entry.id;
    this.#size -= 1;
  }

  /** Takes out the query with an id. */
  take(id: number): Entry | undefined {
    const entry = this.#places[id % this.#places.length];
    if (entry === undefined || entry.id !== id) return undefined;
    this.remove(entry);
    return entry;
  }

  /** Takes out all queries. */
  takeAll(): readonly Entry[] {
    const entries = this.#places.filter((entry) => entry !== undefined);
    this.#places.fill(undefined);
    this.#size = 0;
    return entries;
  }

  /**
   * Judges a packet. A reply is accepted only if its id and question are those of a query in flight. All other packets
   * are counted, and the query keeps waiting.
   *
   * @param isCut the packet was longer than its received part: treat it as if it had TC
   * @returns the query that it answers, if any
   */
  receive(packet: Uint8Array, start: number, length: number, isCut: boolean): Entry | undefined {
    const id = idOfReply(packet, start, length, 'any');
    const place = id % this.#places.length;
    const entry = id < 0 ? undefined : this.#places[place];
    if (entry === undefined || entry.id !== id) {
      this.#dropped.strange += 1;
      if (id < 0 || this.#lastIds[place] !== id) this.#suspicious += 1;
      return undefined;
    }
    const { query } = entry;
    if (!repeatsOpcode(packet, start, query.octets)) {
      this.#dropped.strange += 1;
      this.#suspicious += 1;
      return undefined;
    }
    if (!isBareError(packet, start, length) && !repeatsQuestion(packet, start, length, query)) {
      this.#dropped.otherQuestion += 1;
      this.#suspicious += 1;
      return undefined;
    }
    if (query.plain !== undefined && !this.#takeCase(entry, query.plain, packet, start, length))
      return undefined;
    const reply = replyFrom(packet, start, length, isCut);
    if (reply !== undefined && this.#isForged(reply)) {
      this.#dropped.strange += 1;
      return undefined;
    }
    this.remove(entry);
    if (reply === undefined) entry.events.failed('malformed');
    else entry.events.replied(reply, length);
    return entry;
  }

  /** @returns whether the reply has the case that was sent; if so, it now has the client's */
  #takeCase(entry: Entry, plain: QueryMessage, packet: Uint8Array, start: number, length: number): boolean {
    if (isBareError(packet, start, length)) return true;
    const isKept = repeatsCase(packet, start, entry.query);
    if (isKept) restoreCase(packet, start, plain);
    else {
      this.#dropped.otherCase += 1;
      this.remove(entry);
    }
    entry.judgeCase?.(isKept);
    return isKept;
  }
}

/**
 * The reply in a packet whose id and question are those of a query; undefined if it cannot be decoded.
 *
 * @param isCut the packet was longer than its received part
 */
export function replyFrom(
  packet: Uint8Array,
  start: number,
  length: number,
  isCut: boolean,
): Message | undefined {
  const octets = packet.subarray(start, start + length);
  return tryDecodeMessage(isCut ? toTruncatedReply(octets) : octets);
}

/** Only the header and the question, with TC. */
function toTruncatedReply(packet: Uint8Array): Uint8Array {
  const copy = new Uint8Array(packet);
  copy[2] = (copy[2] ?? 0) | 0x02;
  copy.fill(0, 6, 12);
  return copy;
}
