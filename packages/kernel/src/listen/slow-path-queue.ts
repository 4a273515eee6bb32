/**
 * The main thread's part of UDP: takes questions out of the readers' rings, gets them answered, and sends the answers
 * from the socket that the question came to.
 *
 * Rings keep the order of arrival. So it empties them soon, and clients are then served in turn. When a client has more
 * questions than are free for all clients, its oldest ones are dropped: one client holds at most half of the places.
 *
 * A client waits for some seconds only, counted from the moment that a reader received its question. Older questions are
 * dropped at their turn, and later answers are not sent: whoever asks again finds them in a cache.
 */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { HandleQuery } from '../chain/query.ts';
import { QuestionsByClient } from '../forward/admission/questions-by-client.ts';
import { isWildcard, type SocketAddress } from '../socket/addresses.ts';
import { ENVELOPE, readClient } from '../socket/envelope.ts';
import { ReplySender } from '../socket/reply.ts';
import { ReplyBatch } from '../socket/reply-batch.ts';
import {
  type ClientRuleChecker,
  DECISION,
  makeCheckers,
  type SharedClientRules,
  truncateResponse,
} from './client-rules.ts';
import { type FairScheduler, fairScheduler, type WorkSource } from './fair-scheduler.ts';
import { Faults, failQuery } from './faults.ts';
import { FillPoll } from './fill-poll.ts';
import type { AnswerLarge } from './large-answers.ts';
import { DROPPED, type ListenerDrops, openDrops } from './listener-drops.ts';
import type { MainThreadEvents } from './query-events/main-events.ts';
import type { QueryTimeouts } from './query-timeouts.ts';
import { QuestionConsumer, RECORD } from './question-ring.ts';
import { NO_ORIGIN, type SlowPathOrigin, SlowPathQuery } from './slow-path-query.ts';
import type { ReaderForwarding } from './types.ts';

/** A reader's ring, and the descriptors of its sockets. */
export interface QuestionSource {
  /** The table's number of the reader. */
  readonly reader: number;
  readonly ring: SharedArrayBuffer;
  readonly sockets: readonly number[];
  /** The listener group of each socket. */
  readonly groups: readonly number[];
  /** The address that each socket is bound to. */
  readonly endpoints: readonly SocketAddress[];
  /** What clients of each socket may do; undefined: everything. Here it limits responses. */
  readonly clientRules: readonly (SharedClientRules | undefined)[];
  /** Where to count what is dropped at each socket; undefined: nowhere. */
  readonly drops: readonly (SharedArrayBuffer | undefined)[];
}

export interface SlowQuestionCounts {
  readonly asked: number;
  readonly unanswered: number;
  /** Questions answered with SERVFAIL because answering threw: a defect of this program. */
  readonly faults: number;
  /** Answers that the kernel refused to send. */
  readonly unsent: number;
  /** Responses beyond a rate. */
  readonly limited: number;
  /** Questions lost because their ring, or their client's share of it or of the main thread, was full. */
  readonly dropped: number;
  /** Questions dropped at their turn: their clients did not wait any more. */
  readonly expired: number;
  /** Answers that came when their clients did not wait any more. */
  readonly late: number;
}

interface Source {
  readonly reader: number;
  readonly consumer: QuestionConsumer;
  readonly sockets: readonly number[];
  /** One per socket: the facts that its clients share. */
  readonly origins: readonly SlowPathOrigin[];
  /** One per socket. */
  readonly rules: readonly (ClientRuleChecker | undefined)[];
  /** One per socket. */
  readonly drops: readonly (ListenerDrops | undefined)[];
  /** Whether the next question will wake us. */
  isWatched: boolean;
}

export interface SlowQuestionOptions {
  readonly handleQuery: HandleQuery;
  /** Answers from the table what readers have no room for, and writes the event of it. Default: `handleQuery` answers. */
  readonly answerLarge?: AnswerLarge | undefined;
  /** The main thread's part, if readers forward questions by themselves. */
  readonly forwarding?: ReaderForwarding | undefined;
  /** Maximum of questions that wait for their answers, or their turn. */
  readonly maxUnanswered: number;
  readonly timeouts: QueryTimeouts;
  /** Whose turn it is. Default: those of the process. */
  readonly turns?: FairScheduler | undefined;
  /** The UDP size in our OPT records, in octets. */
  readonly udpSize: number;
  /** Where to write the events of answered queries; undefined: nowhere. */
  readonly events?: MainThreadEvents | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Of a ring, before the event loop goes on: more than come meanwhile, and in a millisecond. */
const TAKEN_PER_TURN = 512;
/** Maximum of question objects kept for reuse. */
const MAX_SPARE = 2048;

export class SlowPathQueue implements WorkSource {
  readonly #sources: Source[];
  readonly #handleQuery: HandleQuery;
  readonly #answerLarge: AnswerLarge | undefined;
  readonly #forwarding: ReaderForwarding | undefined;
  readonly #fills: FillPoll | undefined;
  readonly #maxUnanswered: number;
  readonly #timeouts: QueryTimeouts;
  readonly #clock: Clock;
  readonly #turns: FairScheduler;
  /** Unanswered questions by client. */
  readonly #held = new QuestionsByClient();
  readonly #udpSize: number;
  readonly #events: MainThreadEvents | undefined;
  readonly #faults: Faults;
  readonly #clients = new ClientAddresses();
  readonly #sender = new ReplySender();
  readonly #batch = new ReplyBatch((fd, answers) => this.#noteUnsent(fd, answers));
  readonly #spare: SlowPathQuery[] = [];
  readonly #owner = {
    begin: (question: SlowPathQuery) => void this.#answer(question),
    drop: (question: SlowPathQuery, why: 'late' | 'full') => this.#drop(question, why),
  };
  #asked = 0;
  #unanswered = 0;
  #unsent = 0;
  #limited = 0;
  #dropped = 0;
  #expired = 0;
  #late = 0;
  #isScheduled = false;
  #isSending = false;
  #isClosed = false;
  #waiting: (() => void)[] = [];

  constructor(sources: readonly QuestionSource[], options: SlowQuestionOptions) {
    const { handleQuery, forwarding, maxUnanswered, timeouts, udpSize, events, clock, log } = options;
    this.#sources = sources.map(makeSource);
    this.#handleQuery = handleQuery;
    this.#answerLarge = options.answerLarge;
    this.#forwarding = forwarding;
    this.#fills = forwarding && new FillPoll(forwarding, clock);
    this.#maxUnanswered = maxUnanswered;
    this.#timeouts = timeouts;
    this.#clock = clock;
    this.#turns = options.turns ?? fairScheduler;
    this.#udpSize = udpSize;
    this.#events = events;
    this.#faults = new Faults(log);
    this.#turns.join(this);
    this.wake();
  }

  /** Takes the questions of one more reader. */
  add(source: QuestionSource): void {
    this.#sources.push(makeSource(source));
    this.wake();
  }

  /** Call it when there may be questions. */
  wake(): void {
    if (this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    setImmediate(() => this.#takeSome());
  }

  /** Settles when all questions taken so far are answered. */
  async settle(): Promise<void> {
    if (this.#unanswered > 0 || this.#isScheduled)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#send();
  }

  /** Sends no more answers: the sockets are about to be closed. */
  close(): void {
    this.#isClosed = true;
    this.#turns.leave(this);
    this.#fills?.stop();
  }

  count(): SlowQuestionCounts {
    return {
      asked: this.#asked,
      unanswered: this.#unanswered,
      faults: this.#faults.count,
      unsent: this.#unsent + this.#batch.unsent,
      limited: this.#limited,
      dropped: this.#sources.reduce((sum, { consumer }) => sum + consumer.countDropped(), this.#dropped),
      expired: this.#expired,
      late: this.#late,
    };
  }

  /** Answers of one turn of the event loop are sent together. */
  #answered(
    question: SlowPathQuery,
    response: Uint8Array,
    answerLength: number,
    source: 'chain' | 'table' = 'chain',
  ): void {
    const isLate = answerLength > 0 && this.#clock.monotonic() >= question.arrived + this.#timeouts.discard;
    if (isLate) this.#late++;
    const length = answerLength === 0 || isLate ? 0 : this.#limit(question, response, answerLength);
    if (length > 0 && !this.#isClosed) {
      const { fd, octets, received } = question;
      if (source === 'chain' && this.#events?.wants(response, length, received) === true)
        this.#events.addPacket(question.packet(), response.subarray(0, length), octets, {
          received,
          source,
          transport: 'udp',
        });
      if (!this.#batch.fits(length)) {
        const isSent = this.#sender.send(fd, octets, response.subarray(0, length)) === 'sent';
        if (!isSent) this.#unsent++;
        if (!isSent) question.drops?.add(DROPPED.RESPONSES, 1);
      } else {
        this.#batch.add(fd, octets, response, length);
        if (!this.#isSending) {
          this.#isSending = true;
          setImmediate(() => this.#send());
        }
      }
    }
    this.#release(question);
    this.#resolveIfSettled();
  }

  #drop(question: SlowPathQuery, why: 'late' | 'full'): void {
    if (why === 'late') this.#expired++;
    else this.#dropped++;
    question.drops?.add(DROPPED.QUERIES, 1);
    this.#release(question);
  }

  #noteUnsent(fd: number, answers: number): void {
    for (const { sockets, drops } of this.#sources)
      drops[sockets.indexOf(fd)]?.add(DROPPED.RESPONSES, answers);
  }

  #release(question: SlowPathQuery): void {
    this.#held.subtract(question.client);
    this.#keepSpare(question);
    this.#unanswered--;
  }

  /** @returns the octets of the response to send, 0 for none */
  #limit({ octets, rules }: SlowPathQuery, response: Uint8Array, length: number): number {
    if (rules === undefined) return length;
    rules.setTime();
    const decision = rules.judgeResponse(octets, ENVELOPE.NAME, response, 0, length);
    if (decision === DECISION.PASS) return length;
    this.#limited++;
    return decision === DECISION.DROP ? 0 : truncateResponse(response, 0, length, this.#udpSize);
  }

  #fail(question: SlowPathQuery, error: unknown): void {
    this.#faults.note(error);
    const query = question.query();
    this.#answered(question, query, failQuery(query, 0, query.length, this.#udpSize));
  }

  beforeTurn(): void {
    this.#send();
    for (const source of this.#sources) this.#takeFrom(source);
  }

  onIdle(): void {
    this.wake();
  }

  #send(): void {
    this.#isSending = false;
    if (!this.#isClosed) this.#batch.flush();
  }

  #takeSome(): void {
    this.#isScheduled = false;
    if (this.#isClosed) return;
    this.#fills?.wake();
    let mayBeMore = false;
    for (const source of this.#sources) {
      if (this.#takeFrom(source)) mayBeMore = true;
      // While somebody waits, each turn looks for more.
      else if (this.#turns.waiting === 0 && !this.#sleep(source)) mayBeMore = true;
    }
    if (mayBeMore && this.#turns.waiting === 0) this.wake();
    this.#resolveIfSettled();
  }

  /** Returns false if there is a question already. */
  #sleep(source: Source): boolean {
    if (!source.consumer.sleep()) return false;
    if (source.isWatched) return true;
    const awake = source.consumer.awake();
    if (awake === undefined) return false;
    source.isWatched = true;
    void awake.then(() => {
      source.isWatched = false;
      if (!this.#isScheduled) this.#takeSome();
    });
    return true;
  }

  /** @returns whether this ring may have more */
  #takeFrom({ reader, consumer, sockets, origins, rules, drops }: Source): boolean {
    for (let taken = 0; taken < TAKEN_PER_TURN; taken++) {
      const question = this.#spare.pop() ?? new SlowPathQuery(this.#owner);
      if (!consumer.take(question)) {
        this.#spare.push(question);
        return false;
      }
      if (this.#takeAbout(reader, question)) continue;
      question.client = this.#clients.find(question.octets);
      question.drops = drops[question.socket];
      if (!this.#makeRoom(question.client)) {
        this.#dropped++;
        question.drops?.add(DROPPED.QUERIES, 1);
        this.#keepSpare(question);
        continue;
      }
      question.fd = sockets[question.socket] ?? -1;
      question.origin = origins[question.socket] ?? NO_ORIGIN;
      question.rules = rules[question.socket];
      question.received = this.#events?.now() ?? 0;
      question.expires = question.arrived + this.#timeouts.queue;
      if (question.about.ticket !== 0) this.#forwarding?.takeOver(reader, question, question.about);
      this.#asked++;
      this.#unanswered++;
      this.#held.add(question.client);
      this.#turns.add(question.client, question);
    }
    return true;
  }

  /** Makes room for one more question of a client, in place of its oldest ones. @returns whether there is room */
  #makeRoom(client: string): boolean {
    while (this.#held.count(client) >= this.#maxUnanswered - this.#unanswered)
      if (!this.#turns.dropOldest(client)) return false;
    return true;
  }

  /** Handles a record about an earlier question. @returns whether it is one */
  #takeAbout(reader: number, record: SlowPathQuery): boolean {
    const { socket, about, octets, start, length } = record;
    const { ticket, server } = about;
    if (socket === RECORD.FAILURE) this.#forwarding?.takeFailure(reader, ticket, server);
    else if (socket !== RECORD.REPLY && socket !== RECORD.CUT_REPLY) return false;
    else this.#forwarding?.takeReply(reader, ticket, socket === RECORD.CUT_REPLY, octets, start, length);
    this.#keepSpare(record);
    return true;
  }

  #keepSpare(question: SlowPathQuery): void {
    if (question.isCommonSize && this.#spare.length < MAX_SPARE) this.#spare.push(question);
  }

  async #answer(question: SlowPathQuery): Promise<void> {
    const client = { ...readClient(question.octets), transport: 'udp' as const, ...question.origin };
    try {
      const query = question.query();
      // A ticket is of a question that the table had no answer for.
      const large = question.about.ticket === 0 ? this.#answerLarge?.(query, client) : undefined;
      if (large !== undefined) {
        this.#answered(question, large, large.length, 'table');
        return;
      }
      const response = await this.#handleQuery(query, client);
      this.#answered(question, response ?? NO_RESPONSE, response?.length ?? 0);
    } catch (error) {
      this.#fail(question, error);
    }
  }

  #resolveIfSettled(): void {
    if (this.#unanswered > 0 || this.#isScheduled) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

const NO_RESPONSE = new Uint8Array();

function makeSource(source: QuestionSource): Source {
  const { reader, ring, sockets, groups, endpoints, clientRules, drops } = source;
  return {
    reader,
    consumer: new QuestionConsumer(ring),
    sockets,
    origins: endpoints.map(({ address, port }, socket) => ({
      group: groups[socket] ?? 0,
      localAddress: isWildcard(address) ? undefined : address,
      localPort: port,
    })),
    rules: makeCheckers(clientRules),
    drops: openDrops(drops),
    isWatched: false,
  };
}

/**
 * The text of clients' addresses, formatted once for many questions of the same client.
 *
 * A fixed-size table of recent clients: a client replaces another one with the same hash.
 */
const PLACES = 1024;
/** Where the address begins in a socket address, after the family and the port. */
const ADDRESS_START = 4;
const ADDRESS_END = 28;

class ClientAddresses {
  readonly #addresses = Array.from({ length: PLACES }, () => new Uint8Array(ADDRESS_END));
  readonly #names: string[] = Array.from({ length: PLACES }, () => '');

  /** @param envelope memory that begins with an envelope */
  find(envelope: Uint8Array): string {
    let hash = 0;
    for (let at = ADDRESS_START; at < ADDRESS_END; at++)
      hash = Math.imul(hash ^ (envelope[at] ?? 0), 0x01000193);
    const place = (hash ^ (hash >>> 15)) & (PLACES - 1);
    const name = this.#names[place] ?? '';
    const known = this.#addresses[place];
    if (name !== '' && known !== undefined && isSame(known, envelope)) return name;
    const { address } = readClient(envelope);
    this.#names[place] = address;
    known?.set(envelope.subarray(0, ADDRESS_END));
    return address;
  }
}

function isSame(known: Uint8Array, envelope: Uint8Array): boolean {
  // The family is in the first two octets.
  if (known[0] !== envelope[0]) return false;
  for (let at = ADDRESS_START; at < ADDRESS_END; at++) if (known[at] !== envelope[at]) return false;
  return true;
}
