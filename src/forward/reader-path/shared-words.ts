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
const SEED = 2;
/** What holds of each server, and of each group of servers. */
const TIMEOUTS = 16;

/** Servers that readers may know at once, and groups of servers; each has a place below. */
export const MAX_SERVERS = 256;
export const MAX_GROUPS = 256;
const MAIN_RUNNING = TIMEOUTS + MAX_SERVERS;
const HEAD_WORDS = MAIN_RUNNING + MAX_GROUPS;

/** Groups that clients are counted by: by a hash of their addresses, which a client cannot choose. */
const CLIENT_GROUPS = 1024;
/** Upstream sockets that a reader may have open. */
export const MAX_SOCKETS = 64;

/** Of each reader: queries under way by group, the descriptors of its upstream sockets and of what watches them, queries by client. */
const SOCKETS = MAX_GROUPS;
const CLIENTS = SOCKETS + MAX_SOCKETS + 2;
const READER_WORDS = CLIENTS + CLIENT_GROUPS;

const SERVER_COUNTS = ['sent', 'answers', 'denials', 'strange', 'otherQuestion'] as const;
const GROUP_COUNTS = ['told', 'coalesced', 'lostFills'] as const;

/**
 * sent: queries that left. answers: replies NOERROR. denials: replies NXDOMAIN. strange, otherQuestion: packets that were no reply to
 * anything asked.
 */
export type ServerCounts = Record<(typeof SERVER_COUNTS)[number], number>;
/**
 * told: clients that got such a reply. coalesced: those of them whose question an equal one was sent for. lostFills: replies that the
 * main thread did not get to see.
 */
export type GroupCounts = Record<(typeof GROUP_COUNTS)[number], number>;

/** The index of each count of a server. */
export const SERVER_COUNT = Object.fromEntries(SERVER_COUNTS.map((name, index) => [name, index])) as Readonly<
  // The entries are exactly the counts.
  ServerCounts
>;
/** The index of each count of a group. */
export const GROUP_COUNT = Object.fromEntries(GROUP_COUNTS.map((name, index) => [name, index])) as Readonly<
  // The entries are exactly the counts.
  GroupCounts
>;

const GROUPS_AT = MAX_SERVERS * SERVER_COUNTS.length;
const COUNT_DOUBLES = GROUPS_AT + MAX_GROUPS * GROUP_COUNTS.length;

/** @param readers that forward, at most */
export function makeSharedWords(readers: number): SharedArrayBuffer {
  const words = HEAD_WORDS + readers * READER_WORDS;
  const memory = new SharedArrayBuffer(words * 4 + readers * COUNT_DOUBLES * 8);
  new Int32Array(memory)[SEED] = randomInt(2 ** 31);
  return memory;
}

export class SharedWords {
  /** Those of a reader from `serverCountsOf` or `groupCountsOf` on. */
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

  /** Milliseconds that a server is given for a reply. @param server its number */
  timeoutOf(server: number): number {
    return this.#words[TIMEOUTS + (server % MAX_SERVERS)] ?? 0;
  }

  setTimeoutOf(server: number, milliseconds: number): void {
    this.#words[TIMEOUTS + (server % MAX_SERVERS)] = milliseconds;
  }

  /** Queries that the main thread has under way for a group of servers. */
  setMainRunning(group: number, count: number): void {
    this.#words[MAIN_RUNNING + group] = count;
  }

  /** Queries under way for a group of servers, of all threads. */
  running(group: number): number {
    return (this.#words[MAIN_RUNNING + group] ?? 0) + this.readersRunning(group);
  }

  /** Those of the readers. */
  readersRunning(group: number): number {
    let sum = 0;
    for (let reader = 0; reader < this.#readers; reader++)
      sum += this.#words[this.#start(reader) + group] ?? 0;
    return sum;
  }

  /** Those of the readers for a group of clients. */
  runningOf(group: number): number {
    let sum = 0;
    for (let reader = 0; reader < this.#readers; reader++)
      sum += this.#words[this.#start(reader) + CLIENTS + group] ?? 0;
    return sum;
  }

  /**
   * Counts a query of a reader that is under way from now on, or with -1 no longer.
   *
   * @param group of servers @param clients group of clients
   */
  addRunning(reader: number, group: number, clients: number, more: number): void {
    const start = this.#start(reader);
    this.#words[start + group] = (this.#words[start + group] ?? 0) + more;
    const client = start + CLIENTS + clients;
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

  /** For `SERVER_COUNT`. @param server its number */
  serverCountsOf(reader: number, server: number): number {
    return reader * COUNT_DOUBLES + (server % MAX_SERVERS) * SERVER_COUNTS.length;
  }

  /** For `GROUP_COUNT`. */
  groupCountsOf(reader: number, group: number): number {
    return reader * COUNT_DOUBLES + GROUPS_AT + group * GROUP_COUNTS.length;
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
