/**
 * The questions that a reader has sent upstream, and the clients that wait for them. They are typed arrays, since
 * questions come and go too fast for objects.
 *
 * A *slot* is one question. It is found by the id of its query, or by its question. States of a slot:
 *
 *     free
 *     waiting      its query is in flight; clients may join                  -> answered | taken over
 *     answered     its clients have their answers; its record in the fill ring answers equal questions until it is taken
 *     taken over   the main thread answers its clients; a reply that comes late is handed to it
 *
 * Slots and clients are taken from stacks, so that the memory touched depends on how many are in use at a time.
 */
import { randomFillSync } from 'node:crypto';
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { LOWER_CASE } from '@portolan/dns/label.ts';
import { measurePassedOn } from '@portolan/dns/passing-options.ts';
import { ENVELOPE } from '../../socket/envelope.ts';
import { addWord, finishHash, joinSums, KEYS_PER_WORD } from '../../table/hash.ts';
import type { QuestionReader } from '../../table/question.ts';
import { randomId } from '../transport/random-ids.ts';
import { SlotLists } from './slot-lists.ts';

export const STATE = { FREE: 0, WAITING: 1, ANSWERED: 2, TAKEN_OVER: 3 } as const;

export const SLOTS = 2048;
const CLIENTS = 4096;
const BUCKETS = 4096;
/** Octets of the longest query that it stores. */
export const MAX_QUERY = 320;
const CLIENT_OCTETS = ENVELOPE.OCTETS + MAX_QUERY;
/** Random ids to try for a free place. */
const DRAWS = 64;
const NONE = -1;

/** Writes the envelope of a packet, see `PacketBatch.writeEnvelope`. */
interface Packets {
  readonly octets: Uint8Array;
  writeEnvelope(index: number, target: Uint8Array, at: number): void;
  startAt(index: number): number;
}

export class PendingQueries {
  /** Per slot. */
  readonly state = new Uint8Array(SLOTS);
  readonly id = new Uint16Array(SLOTS);
  readonly socket = new Uint8Array(SLOTS);
  readonly questionEnd = new Uint16Array(SLOTS);
  readonly type = new Uint16Array(SLOTS);
  /** DO and CD, as in `QuestionReader.cachedFlags`. */
  readonly flags = new Uint8Array(SLOTS);
  /** Octets of the EDNS options that its query carries: those of its first client, all or none. */
  readonly passed = new Uint16Array(SLOTS);
  readonly generation = new Int32Array(SLOTS);
  /** The numbers of the route, and of its group of servers. */
  readonly route = new Uint16Array(SLOTS);
  readonly servers = new Uint16Array(SLOTS);
  /** The group of the first client. */
  readonly group = new Uint16Array(SLOTS);
  /** By the clock's monotonic time: when the query was sent, and when the slot is overdue. */
  readonly askedAt = new Float64Array(SLOTS);
  readonly dueAt = new Float64Array(SLOTS);
  /** 1: its query has EDNS. */
  readonly hadEdns = new Uint8Array(SLOTS);
  /** The train of the query; 0: it was sent alone. */
  readonly train = new Uint32Array(SLOTS);
  /** The main thread's key for a query that it takes over. */
  readonly ticket = new Uint32Array(SLOTS);
  /** For an answered slot: where its packet lies in the fill ring, its length, and the position after its record. */
  readonly fillAt = new Uint32Array(SLOTS);
  readonly fillLength = new Uint16Array(SLOTS);
  readonly fillEnd = new Int32Array(SLOTS);
  readonly first = new Int16Array(SLOTS).fill(NONE);
  readonly clients = new Uint16Array(SLOTS);

  /** Per client. */
  readonly next = new Int16Array(CLIENTS);
  readonly length = new Uint16Array(CLIENTS);
  readonly clientSocket = new Uint16Array(CLIENTS);
  readonly udpSize = new Uint16Array(CLIENTS);
  readonly hasOpt = new Uint8Array(CLIENTS);
  /** Where the options of its OPT record begin in its query, and their octets. */
  readonly options = new Uint16Array(CLIENTS);
  readonly optionsLength = new Uint16Array(CLIENTS);
  readonly came = new Float64Array(CLIENTS);
  /** The envelope and the query of each client. */
  readonly octets: Uint8Array;
  readonly view: DataView;
  readonly words: Uint32Array;

  /** The slots of each state, in the order in which they entered it. */
  readonly lists = new SlotLists(SLOTS, 4);
  readonly #last = new Int16Array(SLOTS);
  readonly #freeSlots = makeStack(SLOTS);
  readonly #freeClients = makeStack(CLIENTS);
  #slotsLeft = SLOTS;
  #clientsLeft = CLIENTS;
  /** The slot of each id, by its lower bits; and the last id and socket at each place. */
  readonly #places = new Int16Array(SLOTS).fill(NONE);
  readonly #lastIds = new Uint16Array(SLOTS);
  readonly #lastSockets = new Uint8Array(SLOTS);
  readonly #buckets = new Int16Array(BUCKETS).fill(NONE);
  readonly #nextInBucket = new Int16Array(SLOTS);
  readonly #hash = new Int32Array(SLOTS);
  /** Drawn for each reader: no client can choose options that share a bucket. */
  readonly #optionKeys = randomFillSync(new Int32Array((MAX_QUERY / 4) * KEYS_PER_WORD));

  constructor() {
    const memory = new ArrayBuffer(CLIENTS * CLIENT_OCTETS);
    this.octets = new Uint8Array(memory);
    this.view = new DataView(memory);
    this.words = new Uint32Array(memory);
  }

  /** Slots that are not free. */
  get size(): number {
    return SLOTS - this.#slotsLeft;
  }

  /** Where the envelope of a client begins in `octets`. */
  locateEnvelope(client: number): number {
    return client * CLIENT_OCTETS;
  }

  /** Copies the envelope of a client. */
  writeEnvelope(client: number, target: Uint8Array, at: number): void {
    const from = this.locateEnvelope(client);
    for (let octet = 0; octet < ENVELOPE.OCTETS; octet++) target[at + octet] = this.octets[from + octet] ?? 0;
  }

  /** Where its query begins. */
  queryStartAt(client: number): number {
    return client * CLIENT_OCTETS + ENVELOPE.OCTETS;
  }

  /** The hash of a question, with the options that its query carries. @param passed their octets */
  hashQuestion(question: QuestionReader, passed: number): number {
    const hash = question.hashOfQuestion(0);
    if (passed === 0) return hash;
    const { packet, optionsStart: start } = question;
    const end = start + passed;
    let one = 0;
    let other = 0;
    for (let at = start, key = 0; at < end; at += 4, key += KEYS_PER_WORD) {
      let word = 0;
      for (let octet = Math.min(end, at + 4); octet > at; octet--)
        word = (word << 8) | (packet[octet - 1] ?? 0);
      one = addWord(one, this.#optionKeys, key, word);
      other = addWord(other, this.#optionKeys, key + 2, word);
    }
    return finishHash(hash ^ joinSums(one, other));
  }

  /** The slot of a question with this route and generation, and these options; or -1. */
  find(question: QuestionReader, hash: number, passed: number, route: number, generation: number): number {
    let slot = this.#buckets[hash & (BUCKETS - 1)] ?? NONE;
    while (slot >= 0 && !this.#isSame(slot, question, hash, passed, route, generation))
      slot = this.#nextInBucket[slot] ?? NONE;
    return slot;
  }

  #isSame(
    slot: number,
    question: QuestionReader,
    hash: number,
    passed: number,
    route: number,
    generation: number,
  ): boolean {
    if (this.#hash[slot] !== hash || this.generation[slot] !== generation) return false;
    if (this.route[slot] !== route || this.passed[slot] !== passed) return false;
    if (this.type[slot] !== question.type || this.flags[slot] !== question.cachedFlags()) return false;
    const length = question.nameLength;
    if (this.questionEnd[slot] !== HEADER_OCTETS + length + 4) return false;
    const from = this.queryStartAt(this.first[slot] ?? 0) + HEADER_OCTETS;
    for (let at = 0; at < length; at++)
      if (LOWER_CASE[this.octets[from + at] ?? 0] !== question.name[at]) return false;
    return passed === 0 || this.#hasSameOptions(slot, question, passed);
  }

  #hasSameOptions(slot: number, { packet, optionsStart }: QuestionReader, passed: number): boolean {
    const first = this.first[slot] ?? 0;
    const from = this.queryStartAt(first) + (this.options[first] ?? 0);
    for (let at = 0; at < passed; at++)
      if (this.octets[from + at] !== packet[optionsStart + at]) return false;
    return true;
  }

  /** Whether there is room for another question and another client. */
  get hasRoom(): boolean {
    return this.#slotsLeft > 0 && this.#clientsLeft > 0;
  }

  get hasRoomForClient(): boolean {
    return this.#clientsLeft > 0;
  }

  /**
   * Adds a question as `waiting`, with a random id for a socket.
   *
   * @param passed octets of the options that its query carries
   * @returns the slot, without clients; -1 if no free id was found
   */
  open(question: QuestionReader, start: number, hash: number, passed: number, socket: number): number {
    const id = this.#drawId();
    if (id < 0) return NONE;
    this.#slotsLeft -= 1;
    const slot = this.#freeSlots[this.#slotsLeft] ?? 0;
    this.#places[id % SLOTS] = slot;
    this.id[slot] = id;
    this.socket[slot] = socket;
    this.type[slot] = question.type;
    this.flags[slot] = question.cachedFlags();
    this.passed[slot] = passed;
    this.questionEnd[slot] = question.end - start;
    this.train[slot] = 0;
    this.clients[slot] = 0;
    this.first[slot] = NONE;
    this.#hash[slot] = hash;
    const bucket = hash & (BUCKETS - 1);
    this.#nextInBucket[slot] = this.#buckets[bucket] ?? NONE;
    this.#buckets[bucket] = slot;
    this.state[slot] = STATE.WAITING;
    this.lists.append(STATE.WAITING, slot);
    return slot;
  }

  #drawId(): number {
    for (let draw = 0; draw < DRAWS; draw++) {
      const id = randomId();
      if (this.#places[id % SLOTS] === NONE) return id;
    }
    return NONE;
  }

  /** Adds a client to a slot. @returns the client */
  join(slot: number, packets: Packets, index: number, length: number, socket: number): number {
    this.#clientsLeft -= 1;
    const client = this.#freeClients[this.#clientsLeft] ?? 0;
    packets.writeEnvelope(index, this.octets, this.locateEnvelope(client));
    const to = this.queryStartAt(client);
    const from = packets.startAt(index);
    for (let octet = 0; octet < length; octet++) this.octets[to + octet] = packets.octets[from + octet] ?? 0;
    this.length[client] = length;
    this.clientSocket[client] = socket;
    this.next[client] = NONE;
    if (this.first[slot] === NONE) this.first[slot] = client;
    else this.next[this.#last[slot] ?? 0] = client;
    this.#last[slot] = client;
    this.clients[slot] = (this.clients[slot] ?? 0) + 1;
    return client;
  }

  /** The slot for a packet of a socket, found by its id; -1 if no slot has this id. */
  findSlot(id: number, socket: number): number {
    const slot = this.#places[id % SLOTS] ?? NONE;
    const isIts = slot >= 0 && this.id[slot] === id && this.socket[slot] === socket;
    return isIts ? slot : NONE;
  }

  /** Whether an id was in use on a socket and its place has not been reused: then a reply to it is late, or a duplicate. */
  wasIn(id: number, socket: number): boolean {
    const place = id % SLOTS;
    return this.#lastIds[place] === id && this.#lastSockets[place] === socket;
  }

  /** Moves a slot to another state. */
  move(slot: number, state: number): void {
    this.lists.remove(this.state[slot] ?? 0, slot);
    this.state[slot] = state;
    this.lists.append(state, slot);
  }

  /** Frees its id: no reply is expected. */
  releaseId(slot: number): void {
    const id = this.id[slot] ?? 0;
    const place = id % SLOTS;
    if (this.#places[place] !== slot) return;
    this.#places[place] = NONE;
    this.#lastIds[place] = id;
    this.#lastSockets[place] = this.socket[slot] ?? 0;
  }

  /** Releases all clients but the first, whose query holds the question. */
  releaseOthers(slot: number): void {
    const first = this.first[slot] ?? NONE;
    if (first < 0) return;
    this.#releaseFrom(this.next[first] ?? NONE);
    this.next[first] = NONE;
    this.#last[slot] = first;
  }

  /** Frees a slot and its clients. */
  free(slot: number): void {
    this.releaseId(slot);
    this.#releaseFrom(this.first[slot] ?? NONE);
    this.#leaveBucket(slot);
    this.lists.remove(this.state[slot] ?? 0, slot);
    this.state[slot] = STATE.FREE;
    this.#freeSlots[this.#slotsLeft] = slot;
    this.#slotsLeft += 1;
  }

  #releaseFrom(client: number): void {
    for (let at = client; at >= 0; at = this.next[at] ?? NONE) {
      this.#freeClients[this.#clientsLeft] = at;
      this.#clientsLeft += 1;
    }
  }

  #leaveBucket(slot: number): void {
    const bucket = (this.#hash[slot] ?? 0) & (BUCKETS - 1);
    const behind = this.#nextInBucket[slot] ?? NONE;
    if (this.#buckets[bucket] === slot) {
      this.#buckets[bucket] = behind;
      return;
    }
    let at = this.#buckets[bucket] ?? NONE;
    while (at >= 0 && this.#nextInBucket[at] !== slot) at = this.#nextInBucket[at] ?? NONE;
    if (at >= 0) this.#nextInBucket[at] = behind;
  }
}

/** Octets of the EDNS options that the query for a question carries: all or none. */
export function measurePassed({ hasOptions, packet, optionsStart, optionsEnd }: QuestionReader): number {
  return hasOptions ? measurePassedOn(packet, optionsStart, optionsEnd) : 0;
}

function makeStack(size: number): Uint16Array {
  return Uint16Array.from({ length: size }, (_, index) => size - 1 - index);
}
