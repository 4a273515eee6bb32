/**
 * The memory that reader threads and the main thread share for forwarding, beside their rings: a few words of current
 * state, and for each reader its queries in flight and its counts.
 *
 * Each word has one writing thread; others may read it at any time, and may see a change a moment late. Counts are
 * doubles, as in `listen/reader-counters.ts`.
 */
import { randomInt } from 'node:crypto';
import { encodeSocketAddress } from '../../socket/addresses.ts';
import { ENVELOPE, hashClient } from '../../socket/envelope.ts';

const POLICY = 0;
const GENERATION = 1;
const SEED = 2;
/** State of each server, and of each group of servers. */
const TIMEOUTS = 16;

/** Maximum of servers, and of groups of servers, that readers may know at once; each has a place below. A server block has a group. */
export const MAX_SERVERS = 1024;
export const MAX_GROUPS = 1024;
const MAIN_RUNNING = TIMEOUTS + MAX_SERVERS;
const HEAD_WORDS = MAIN_RUNNING + MAX_GROUPS;

/** Number of client groups: a client's group is a keyed hash of its address, so clients cannot choose it. */
const CLIENT_GROUPS = 1024;
/** Maximum of upstream sockets of a reader. */
export const MAX_SOCKETS = 64;

/** Per reader: queries in flight by group, the descriptors of its upstream sockets and of their watcher, queries by client group. */
const SOCKETS = MAX_GROUPS;
const CLIENTS = SOCKETS + MAX_SOCKETS + 2;
const READER_WORDS = CLIENTS + CLIENT_GROUPS;

const SERVER_COUNTS = ['sent', 'answers', 'denials', 'strange', 'otherQuestion'] as const;
const GROUP_COUNTS = ['told', 'coalesced', 'lostFills'] as const;

/**
 * sent: queries sent. answers: NOERROR replies. denials: NXDOMAIN replies. strange, otherQuestion: packets that do not
 * answer any query.
 */
export type ServerCounts = Record<(typeof SERVER_COUNTS)[number], number>;
/**
 * told: clients that got such a reply, and not one on its way to the cache. coalesced: clients who shared the query of an
 * equal question. lostFills: replies that did not reach the main thread.
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

/** @param readers maximum of readers that forward */
export function makeSharedWords(readers: number): SharedArrayBuffer {
  const words = HEAD_WORDS + readers * READER_WORDS;
  const memory = new SharedArrayBuffer(words * 4 + readers * COUNT_DOUBLES * 8);
  new Int32Array(memory)[SEED] = randomInt(2 ** 31);
  return memory;
}

export class SharedWords {
  /** The counts of a reader, from `locateServerCounts` or `locateGroupCounts` on. */
  readonly counts: Float64Array;
  readonly #words: Int32Array;
  readonly #readers: number;
  readonly #envelope = new Uint8Array(ENVELOPE.OCTETS);

  /** @param readers the same number as for `makeSharedWords` */
  constructor(memory: SharedArrayBuffer, readers: number) {
    const words = HEAD_WORDS + readers * READER_WORDS;
    this.#words = new Int32Array(memory, 0, words);
    this.counts = new Float64Array(memory, words * 4);
    this.#readers = readers;
  }

  /** The group of the client of an envelope. */
  computeGroup(octets: Uint8Array, envelope: number): number {
    return hashClient(octets, envelope, this.#words[SEED] ?? 0) & (CLIENT_GROUPS - 1);
  }

  /** The same, by the client's address. */
  findGroup(client: string): number {
    const envelope = this.#envelope;
    // Zones do not count, and the interface of one may be gone.
    const [address = ''] = client.split('%', 1);
    const name = encodeSocketAddress({ address, port: 0 });
    envelope.set(name, ENVELOPE.NAME);
    envelope[ENVELOPE.NAME_LENGTH] = name.length;
    return this.computeGroup(envelope, 0);
  }

  /** The number of the policy in force. It is stored after the policy was posted to all readers. */
  get policy(): number {
    return Atomics.load(this.#words, POLICY);
  }

  set policy(number: number) {
    Atomics.store(this.#words, POLICY, number);
  }

  /** Increases with every change of the sources of answers. */
  get generation(): number {
    return Atomics.load(this.#words, GENERATION);
  }

  set generation(generation: number) {
    Atomics.store(this.#words, GENERATION, generation | 0);
  }

  /** The time-out for a server's reply in milliseconds. @param server its number */
  readServerTimeout(server: number): number {
    return this.#words[TIMEOUTS + (server % MAX_SERVERS)] ?? 0;
  }

  setServerTimeout(server: number, milliseconds: number): void {
    this.#words[TIMEOUTS + (server % MAX_SERVERS)] = milliseconds;
  }

  /** Sets how many queries the main thread has in flight for a group of servers. */
  setMainRunning(group: number, count: number): void {
    this.#words[MAIN_RUNNING + group] = count;
  }

  /** Queries of all threads in flight for a group of servers. */
  running(group: number): number {
    return (this.#words[MAIN_RUNNING + group] ?? 0) + this.readersRunning(group);
  }

  /** The readers' part. */
  readersRunning(group: number): number {
    let sum = 0;
    for (let reader = 0; reader < this.#readers; reader++)
      sum += this.#words[this.#start(reader) + group] ?? 0;
    return sum;
  }

  /** The readers' queries in flight for a group of clients. */
  countRunning(group: number): number {
    let sum = 0;
    for (let reader = 0; reader < this.#readers; reader++)
      sum += this.#words[this.#start(reader) + CLIENTS + group] ?? 0;
    return sum;
  }

  /**
   * Counts a reader's query as in flight; with -1, as finished.
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
   * Records the descriptor of a reader's upstream socket; -1: it is closed.
   *
   * @param socket `MAX_SOCKETS` for the descriptor that watches all of them
   */
  noteSocket(reader: number, socket: number, fd: number): void {
    Atomics.store(this.#words, this.#start(reader) + SOCKETS + socket, fd + 1);
  }

  /** The place for `SERVER_COUNT`. @param server its number */
  locateServerCounts(reader: number, server: number): number {
    return reader * COUNT_DOUBLES + (server % MAX_SERVERS) * SERVER_COUNTS.length;
  }

  /** The place for `GROUP_COUNT`. */
  locateGroupCounts(reader: number, group: number): number {
    return reader * COUNT_DOUBLES + GROUPS_AT + group * GROUP_COUNTS.length;
  }

  /** The growth of a server's counts from now on. @param server its number */
  followServerCounts(server: number): CountGrowth<keyof ServerCounts> {
    return new CountGrowth(this.counts, this.locateServerCounts(0, server), this.#readers, SERVER_COUNTS);
  }

  /** The growth of the counts of a group of servers from now on. */
  followGroupCounts(group: number): CountGrowth<keyof GroupCounts> {
    return new CountGrowth(this.counts, this.locateGroupCounts(0, group), this.#readers, GROUP_COUNTS);
  }

  /** Clears the state of a reader whose thread has died. @returns the descriptors that it left open */
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

/** How counts of all readers together have grown. */
export class CountGrowth<Name extends string> {
  readonly #counts: Float64Array;
  readonly #first: number;
  readonly #readers: number;
  readonly #names: readonly Name[];
  readonly #before: number[];

  /** @param first the place of the first count of the first reader */
  constructor(counts: Float64Array, first: number, readers: number, names: readonly Name[]) {
    this.#counts = counts;
    this.#first = first;
    this.#readers = readers;
    this.#names = names;
    this.#before = names.map((_, at) => this.#sum(at));
  }

  /** Since the last call; undefined if nothing has grown. It costs next to nothing then: most servers of many blocks are idle. */
  take(): Record<Name, number> | undefined {
    const before = this.#before;
    if (before.every((count, at) => count === this.#sum(at))) return undefined;
    const since = this.#names.map((name, at) => {
      const now = this.#sum(at);
      const growth = now - (before[at] ?? 0);
      before[at] = now;
      return [name, growth] as const;
    });
    // The entries are exactly the names.
    return Object.fromEntries(since) as Record<Name, number>;
  }

  #sum(at: number): number {
    let sum = 0;
    for (let reader = 0; reader < this.#readers; reader++)
      sum += this.#counts[this.#first + reader * COUNT_DOUBLES + at] ?? 0;
    return sum;
  }
}
