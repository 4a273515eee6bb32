/**
 * Queries of one socket or connection that wait for their replies, by id, and the judgement of what arrives.
 */
import { decodeMessage } from '../../wire/message.ts';
import type { Message } from '../../wire/types.ts';
import { WireError } from '../../wire/wire-error.ts';
import { PlainReply } from './plain-reply.ts';
import { idOfReply, type QueryMessage, repeatsQuestion, withId } from './query-message.ts';
import { randomId } from './random-ids.ts';
import type { DroppedPackets, ExchangeEvents } from './transport.ts';

export interface Asked {
  readonly query: QueryMessage;
  readonly events: ExchangeEvents;
  /** Its message id here, once it is taken in. */
  id: number;
}

/**
 * Places for queries, by the lower bits of their ids; as many may be under way on one socket. A power of two. Not a `Map`, for the
 * reason told in `Flights`.
 */
const PLACES = 2048;
/** Ids drawn to find a free place, before the socket counts as full. */
const DRAWS = 64;

export class Outstanding<Entry extends Asked> {
  readonly #places: (Entry | undefined)[] = Array.from({ length: PLACES }, () => undefined);
  readonly #dropped: DroppedPackets;
  readonly #isForged: (message: Message) => boolean;
  #size = 0;

  /**
   * @param dropped counters that are added to
   * @param isForged whether a reply is somebody else's after all, by what it says
   */
  constructor(dropped: DroppedPackets, isForged: (message: Message) => boolean = () => false) {
    this.#dropped = dropped;
    this.#isForged = isForged;
  }

  get size(): number {
    return this.#size;
  }

  /** Takes a query in. @returns the packet to send; undefined if there is no room */
  add(entry: Entry): Uint8Array | undefined {
    return this.admit(entry) ? withId(entry.query, entry.id) : undefined;
  }

  /** Takes a query in under an id of its own. @returns whether there is room */
  admit(entry: Entry): boolean {
    for (let draw = 0; draw < DRAWS; draw += 1) {
      const id = randomId();
      if (this.#places[id % PLACES] !== undefined) continue;
      entry.id = id;
      this.#places[id % PLACES] = entry;
      this.#size += 1;
      return true;
    }
    return false;
  }

  /** Waits no longer for a query. Its place may be another's by now, which then stays. */
  remove(entry: Entry): void {
    if (this.#places[entry.id % PLACES] !== entry) return;
    this.#places[entry.id % PLACES] = undefined;
    this.#size -= 1;
  }

  /** Takes all of them out. */
  takeAll(): readonly Entry[] {
    const entries = this.#places.filter((entry) => entry !== undefined);
    this.#places.fill(undefined);
    this.#size = 0;
    return entries;
  }

  /**
   * Judges a packet. A reply is taken only if its id and question are those of a query under way; everything else is counted,
   * and the query waits on.
   *
   * @param isCut the packet was longer than what is here of it: as if it had said so itself
   * @returns the query that it answers, if any
   */
  receive(packet: Uint8Array, start: number, length: number, isCut: boolean): Entry | undefined {
    const id = idOfReply(packet, start, length);
    const entry = id < 0 ? undefined : this.#places[id % PLACES];
    if (entry === undefined || entry.id !== id) {
      this.#dropped.strange += 1;
      return undefined;
    }
    if (!repeatsQuestion(packet, start, length, entry.query)) {
      this.#dropped.otherQuestion += 1;
      return undefined;
    }
    const isPlain = !isCut && plain.take(packet, start, length, entry.query);
    const message = isPlain ? plain : decode(packet.subarray(start, start + length), isCut);
    if (message !== undefined && this.#isForged(message)) {
      this.#dropped.strange += 1;
      return undefined;
    }
    this.remove(entry);
    if (message === undefined) entry.events.failed('malformed');
    else entry.events.replied(message);
    return entry;
  }
}

/** The one plain reply that is lent at a time. */
const plain = new PlainReply();

function decode(packet: Uint8Array, isCut: boolean): Message | undefined {
  try {
    return decodeMessage(isCut ? headOf(packet) : packet);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

/** The header and the question alone, marked as truncated. */
function headOf(packet: Uint8Array): Uint8Array {
  const copy = new Uint8Array(packet);
  copy[2] = (copy[2] ?? 0) | 0x02;
  copy.fill(0, 6, 12);
  return copy;
}
