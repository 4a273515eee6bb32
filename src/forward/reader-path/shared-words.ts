/**
 * What the reader threads that forward questions share with the main thread beside their rings: a few words of what holds at the
 * moment, and for each reader what it has under way and what it has counted.
 *
 * Each word has one thread that writes it; all others read it whenever they like, and may see it a moment late. Counts are doubles,
 * as in `listen/reader-counters.ts`.
 */
import { randomInt } from 'node:crypto';
import { hashClient } from '../../socket/envelope.ts';

const POLICY = 0;
const GENERATION = 1;
const TIMEOUT = 2;
const MAIN_RUNNING = 3;
const SEED = 4;
const HEAD_WORDS = 16;

/** Groups that clients are counted by: by a hash of their addresses, which a client cannot choose. */
const CLIENT_GROUPS = 1024;
/** Upstream sockets that a reader may have open. */
export const MAX_SOCKETS = 64;

const RUNNING = 0;
const SOCKETS = 16;
/** The descriptors of the upstream sockets, and of what watches them. */
const CLIENTS = SOCKETS + MAX_SOCKETS + 2;
const READER_WORDS = CLIENTS + CLIENT_GROUPS;

const COUNTS = [
  ...['sent', 'answers', 'denials', 'told', 'coalesced', 'strange', 'otherQuestion', 'lostFills'],
] as const;

/**
 * sent: queries that left. answers: replies NOERROR. denials: replies NXDOMAIN. told: clients that got such a reply. coalesced:
 * those of them whose question an equal one was sent for. strange, otherQuestion: packets that were no reply to anything asked.
 * lostFills: replies that the main thread did not get to see.
 */
export type ReaderPathCounts = Record<(typeof COUNTS)[number], number>;

/** The index of each count. */
export const COUNT = Object.fromEntries(COUNTS.map((name, index) => [name, index])) as Readonly<
  // The entries are exactly the counts.
  ReaderPathCounts
>;

const COUNT_DOUBLES = 8;

/** @param readers that forward, at most */
export function makeSharedWords(readers: number): SharedArrayBuffer {
  const words = HEAD_WORDS + readers * READER_WORDS;
  const memory = new SharedArrayBuffer(words * 4 + readers * COUNT_DOUBLES * 8);
  new Int32Array(memory)[SEED] = randomInt(2 ** 31);
  return memory;
}

export class SharedWords {
  /** For `COUNT`, those of reader n from `countsOf(n)` on. */
  readonly counts: Float64Array;
  readonly #words: Int32Array;
  readonly #readers: number;

  /** @param readers as the memory was made for */
  constructor(memory: SharedArrayBuffer, readers: number) {
    const words = HEAD_WORDS + readers * READER_WORDS;
    this.#words = new Int32Array(memory, 0, words);
    this.counts = new Float64Array(memory, words * 4);
    this.#readers = readers;
  }

  /** The group of the client of an envelope. */
  groupOf(octets: Uint8Array, envelope: number): number {
    return hashClient(octets, envelope, this.#words[SEED] ?? 0) & (CLIENT_GROUPS - 1);
  }

  /** The number of the policy that holds. It is stored after the policy was posted to all readers. */
  get policy(): number {
    return Atomics.load(this.#words, POLICY);
  }

  set policy(number: number) {
    Atomics.store(this.#words, POLICY, number);
  }

  /** Grows with every change of what answers are made from. */
  get generation(): number {
    return Atomics.load(this.#words, GENERATION);
  }

  set generation(generation: number) {
    Atomics.store(this.#words, GENERATION, generation | 0);
  }

  /** Milliseconds that the server is given for a reply. */
  get timeout(): number {
    return this.#words[TIMEOUT] ?? 0;
  }

  set timeout(milliseconds: number) {
    this.#words[TIMEOUT] = milliseconds;
  }

  /** Queries that the main thread has under way for the same servers. */
  set mainRunning(count: number) {
    this.#words[MAIN_RUNNING] = count;
  }

  /** Queries under way for the servers, of all threads. */
  get running(): number {
    return (this.#words[MAIN_RUNNING] ?? 0) + this.readersRunning;
  }

  /** Those of the readers. */
  get readersRunning(): number {
    let sum = 0;
    for (let reader = 0; reader < this.#readers; reader++)
      sum += this.#words[this.#start(reader) + RUNNING] ?? 0;
    return sum;
  }

  /** Those of the readers for a group of clients. */
  runningOf(group: number): number {
    let sum = 0;
    for (let reader = 0; reader < this.#readers; reader++)
      sum += this.#words[this.#start(reader) + CLIENTS + group] ?? 0;
    return sum;
  }

  /** Counts a query of a reader that is under way from now on, or with -1 no longer. */
  addRunning(reader: number, group: number, more: number): void {
    const start = this.#start(reader);
    this.#words[start + RUNNING] = (this.#words[start + RUNNING] ?? 0) + more;
    const client = start + CLIENTS + group;
    this.#words[client] = (this.#words[client] ?? 0) + more;
  }

  /**
   * Notes which descriptor an upstream socket of a reader has; -1: it is closed.
   *
   * @param socket `MAX_SOCKETS` for what watches all of them
   */
  noteSocket(reader: number, socket: number, fd: number): void {
    Atomics.store(this.#words, this.#start(reader) + SOCKETS + socket, fd + 1);
  }

  countsOf(reader: number): number {
    return reader * COUNT_DOUBLES;
  }

  /** Takes back what a reader had whose thread is gone. @returns the descriptors that it has left open */
  forgetReader(reader: number): readonly number[] {
    const start = this.#start(reader);
    const sockets = this.#words.subarray(start + SOCKETS, start + CLIENTS);
    const open = [...sockets].filter((fd) => fd > 0).map((fd) => fd - 1);
    this.#words.fill(0, start, start + READER_WORDS);
    return open;
  }

  #start(reader: number): number {
    return HEAD_WORDS + reader * READER_WORDS;
  }
}
