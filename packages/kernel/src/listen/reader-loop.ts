/**
 * The loop of a reader thread: receive a batch, answer each packet in place, send the batch.
 *
 * It owns its thread and never returns to an event loop before its end. So orders reach it through a word of shared
 * memory that it reads between batches, at least every `WAIT_MILLISECONDS`. It allocates no memory per query.
 */
import { writeErrorResponse } from '@portolan/dns/acceptance.ts';
import { RCODE } from '@portolan/dns/types.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import type { ReaderPathData } from '../forward/reader-path/reader-host.ts';
import type { ReaderPolicy } from '../forward/reader-path/reader-policy.ts';
import { decodeSocketAddress } from '../socket/addresses.ts';
import { PacketBatch } from '../socket/batch.ts';
import { limitClients } from '../socket/client-filter.ts';
import { libc } from '../socket/libc.ts';
import { EINTR, MSG_DONTWAIT, MSG_WAITFORONE } from '../socket/linux.ts';
import { SocketReadiness } from '../socket/readiness.ts';
import { isFillingUp } from '../socket/udp-socket.ts';
import {
  type ClientRuleChecker,
  carryOut,
  DECISION,
  makeCheckers,
  type SharedClientRules,
  truncateResponse,
} from './client-rules.ts';
import { failQuery } from './faults.ts';
import { type ForwardableAnswers, ForwardingReader } from './forwarding-reader.ts';
import { DROPPED, type ListenerDrops, openDrops } from './listener-drops.ts';
import { OverloadGuard } from './overload-guard.ts';
import { ProxiedPackets } from './proxy-protocol/proxied-packets.ts';
import type { ProxyProtocolPlan } from './proxy-protocol/proxy-policy.ts';
import { QueryEventWriter } from './query-events/event-writer.ts';
import { QuestionProducer } from './question-ring.ts';
import { COUNTER, FAILING_CALLS } from './reader-counters.ts';
import { ReaderSteering, type SteeringData } from './reader-steering.ts';
import type { InstantAnswers } from './types.ts';

/** How long a reader waits for packets before it checks for orders. Also the receive timeout of its sockets. */
export const WAIT_MILLISECONDS = 100;

/**
 * DRAIN: continue until no packet comes for the length of a wait, then end. STOP: end after this batch. HOLD: do not
 * receive yet, since another thread uses the sockets.
 */
export const ORDER = { RUN: 0, DRAIN: 1, STOP: 2, HOLD: 3 } as const;

/** The start parameters of a reader thread. They outlive the thread: its successor uses them too. */
export interface ReaderData {
  /** The table's memory and this reader's number in it. Undefined: every query goes to the main thread. */
  readonly table: SharedArrayBuffer | undefined;
  readonly reader: number;
  /** Descriptors of the sockets, one per address served. */
  readonly sockets: readonly number[];
  /** The listener group of each socket. */
  readonly groups: readonly number[];
  /** One 32-bit word: one of `ORDER`. */
  readonly orders: SharedArrayBuffer;
  readonly counters: SharedArrayBuffer;
  readonly ring: SharedArrayBuffer;
  /** The ring of query events of each socket; undefined: without a consumer. */
  readonly events: readonly (SharedArrayBuffer | undefined)[];
  /** Octets of the largest query accepted and the largest answer sent. */
  readonly packetSize: number;
  /** The server's own maximum for answers over UDP, in octets. */
  readonly udpSize: number;
  /** What clients of each socket may do; undefined: everything. */
  readonly clientRules: readonly (SharedClientRules | undefined)[];
  /** Whose packets to each socket may begin with a header that tells the client; undefined: none do. */
  readonly proxies: readonly (ProxyProtocolPlan | undefined)[];
  /** Where to count what is dropped at each socket; undefined: nowhere. */
  readonly drops: readonly (SharedArrayBuffer | undefined)[];
  /** Set if the reader forwards plain questions; undefined: the main thread forwards all. */
  readonly forwarding?: ReaderPathData | undefined;
  /** Milliseconds to wait for more packets after receiving a single one. Default: 0. */
  readonly coalesce?: number | undefined;
  /** Where it reports how busy it is; undefined: packets are not steered. */
  readonly steering?: SteeringData | undefined;
}

/** Rare messages from a reader to the main thread. */
export interface ReaderMessages {
  /** Answering a packet threw, which is a defect of this program. The first few are reported, all are counted. */
  reportFault(error: unknown): void;
  /** The newest forwarding policy that the main thread posted; undefined if unchanged. */
  receivePolicy(): ReaderPolicy | undefined;
  /** Many receive calls in a row have failed. @param reason `ENOSYS` */
  reportDeafness(reason: string): void;
  /** A client floods: the kernel now passes only one in `share` of its packets. */
  reportFlood(client: string, share: number): void;
  /** A packet was dropped since its header was malformed, or its sender may not send one. Reported once a second at most. */
  reportHeader(sender: string): void;
}

const MAX_FAULTS_REPORTED = 10;
const HEADERS_REPORTED_MILLISECONDS = 1000;
/** A failing receive call must not spin. */
const PAUSE_AFTER_ERROR_MILLISECONDS = 10;

export class ReaderLoop {
  readonly #answers: InstantAnswers;
  readonly #messages: ReaderMessages;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #batch: PacketBatch;
  readonly #readiness: SocketReadiness;
  readonly #sockets: readonly number[];
  readonly #groups: readonly number[];
  /** One per socket. */
  readonly #guards: readonly OverloadGuard[];
  readonly #questions: QuestionProducer;
  /** One per socket. */
  readonly #events: readonly (QueryEventWriter | undefined)[];
  /** The memory of all packets, for events. */
  readonly #view: DataView;
  readonly #orders: Int32Array;
  readonly #counts: Float64Array;
  readonly #udpSize: number;
  /** One per socket. */
  readonly #rules: readonly (ClientRuleChecker | undefined)[];
  /** One per socket. */
  readonly #proxies: readonly (ProxiedPackets | undefined)[];
  /** One per socket. */
  readonly #drops: readonly (ListenerDrops | undefined)[];
  readonly #makeForwardingReader: () => ForwardingReader | undefined;
  #forwarding: ForwardingReader | undefined;
  readonly #steering: ReaderSteering | undefined;
  readonly #coalesce: number;
  #faultsReported = 0;
  #headerReported = Number.NEGATIVE_INFINITY;
  /** Receive calls that have failed since the last one that did not. */
  #failing = 0;
  /** When packets last came, or a wait ended. */
  #now = 0;
  /** The listener group of the current batch. */
  #group = 0;

  constructor(
    data: ReaderData,
    answers: InstantAnswers | ForwardableAnswers,
    messages: ReaderMessages,
    clock: Pick<Clock, 'monotonic'> = systemClock,
  ) {
    this.#answers = answers;
    this.#clock = clock;
    this.#messages = messages;
    this.#batch = new PacketBatch(data.packetSize);
    this.#readiness = new SocketReadiness(data.sockets);
    this.#sockets = data.sockets;
    this.#groups = data.groups;
    this.#proxies = data.proxies.map((plan) => plan && new ProxiedPackets(plan));
    this.#drops = openDrops(data.drops);
    this.#guards = data.sockets.map((fd, socket) => this.#makeGuard(fd, this.#proxies[socket] !== undefined));
    this.#questions = new QuestionProducer(data.ring, (socket) => this.#noteDropped(socket));
    this.#events = makeEventWriters(data.events);
    const { buffer, byteOffset, byteLength } = this.#batch.octets;
    this.#view = new DataView(buffer, byteOffset, byteLength);
    this.#orders = new Int32Array(data.orders);
    this.#counts = new Float64Array(data.counters);
    this.#udpSize = data.udpSize;
    this.#rules = makeCheckers(data.clientRules);
    this.#makeForwardingReader = () => this.#makeForwarding(data, answers);
    this.#coalesce = data.coalesce ?? 0;
    this.#steering = data.steering && new ReaderSteering(data.steering, data.sockets);
  }

  /** @param isProxied the kernel sees proxies only, and must not limit them */
  #makeGuard(fd: number, isProxied: boolean): OverloadGuard {
    return new OverloadGuard({
      isFillingUp: () => isFillingUp(fd),
      limit: (clients) => (!isProxied || clients.length === 0) && limitClients(fd, clients),
      onLimited: (octets, client, share) => {
        this.#count(COUNTER.floods, 1);
        this.#messages.reportFlood(decodeSocketAddress(octets, client).address, share);
      },
    });
  }

  #makeForwarding(
    data: ReaderData,
    answers: InstantAnswers | ForwardableAnswers,
  ): ForwardingReader | undefined {
    const { table } = data;
    if (data.forwarding === undefined || table === undefined || !('hashWireName' in answers))
      return undefined;
    return new ForwardingReader({
      ...data,
      table,
      data: data.forwarding,
      answers,
      questions: this.#questions,
      events: this.#events,
      rules: this.#rules,
      receivePolicy: () => this.#messages.receivePolicy(),
      onLimited: () => this.#count(COUNTER.limited, 1),
      onUnsent: (fd, responses) => this.#drops[this.#sockets.indexOf(fd)]?.add(DROPPED.RESPONSES, responses),
      onFault: (error) => this.#noteFault(error),
    });
  }

  /**
   * Serves until ordered to end, or only until no packet comes for the length of a wait.
   *
   * @returns whether it has ended
   */
  run(until: 'ended' | 'quiet' = 'ended'): boolean {
    const serve = this.#sockets.length === 1 ? () => this.#serveOne() : () => this.#serveReady();
    Atomics.wait(this.#orders, 0, ORDER.HOLD);
    // Only now: until here an ending thread may have used the same number, and its end closes that number's sockets.
    this.#forwarding ??= this.#makeForwardingReader();
    const forwarding = this.#forwarding;
    let order: number = ORDER.RUN;
    while (order !== ORDER.STOP) {
      const isQuiet = !(forwarding === undefined ? serve() : this.#serveForwarding(forwarding, serve));
      const isIdle = isQuiet && forwarding?.isBusy !== true;
      if (order === ORDER.DRAIN && isIdle) break;
      if (until === 'quiet' && order === ORDER.RUN && isIdle) return false;
      order = Atomics.load(this.#orders, 0);
      this.#reviewLimits();
    }
    for (const guard of this.#guards) guard.end();
    forwarding?.close();
    return true;
  }

  /** A limited client may be the only active one, and silent now. */
  #reviewLimits(): void {
    for (const guard of this.#guards) if (guard.isLimiting) guard.review(this.#clock.monotonic());
  }

  /** While no reply from upstream is pending, it waits only for the client sockets. */
  #serveForwarding(forwarding: ForwardingReader, serve: () => boolean): boolean {
    forwarding.expire(this.#now);
    if (!forwarding.isWaiting) {
      const isQuiet = !serve();
      if (isQuiet) this.#now = this.#clock.monotonic();
      return !isQuiet;
    }
    const events = forwarding.wait(this.#now, WAIT_MILLISECONDS);
    this.#now = this.#clock.monotonic();
    if (events <= 0) return this.#endWait(events);
    // Replies first: queries of clients then acknowledge them on the same connection.
    for (let event = 0; event < events; event++)
      if (forwarding.findClientSocket(event) < 0) {
        this.#receiveReplies(forwarding, events);
        break;
      }
    for (let event = 0; event < events; event++) {
      const socket = forwarding.findClientSocket(event);
      if (socket >= 0) this.#serve(socket, MSG_DONTWAIT);
    }
    return true;
  }

  #receiveReplies(forwarding: ForwardingReader, events: number): void {
    const began = this.#steering === undefined ? 0 : this.#clock.monotonic();
    forwarding.receive(events, this.#now);
    this.#steering?.noteWork(this.#clock.monotonic() - began);
  }

  /** With a single socket the receive call itself waits. Returns false if no packet came during the wait. */
  #serveOne(): boolean {
    return this.#serve(0, MSG_WAITFORONE);
  }

  #serveReady(): boolean {
    const ready = this.#readiness.wait(WAIT_MILLISECONDS);
    if (ready <= 0) return this.#endWait(ready);
    for (let socket = 0; socket < this.#sockets.length; socket++) {
      if (this.#readiness.isReady(socket)) this.#serve(socket, MSG_DONTWAIT);
    }
    return true;
  }

  /** Ends a wait without packets. @param result 0, or -1 for an error @returns false if it was quiet */
  #endWait(result: number): boolean {
    if (result < 0) {
      const errno = libc().errno();
      return errno === EINTR || this.#noteReceiveError(errno);
    }
    if (this.#failing > 0) this.#noteReceived();
    return false;
  }

  #serve(socket: number, flags: number): boolean {
    const fd = this.#sockets[socket] ?? -1;
    const received = this.#batch.receive(fd, flags);
    if (received === -EINTR) return true;
    if (received < 0) return this.#noteReceiveError(-received);
    if (this.#failing > 0) this.#noteReceived();
    if (received === 0) return false;
    this.#answers.enter();
    const came = this.#clock.monotonic();
    this.#now = came;
    this.#answers.setTime(came);
    this.#group = this.#groups[socket] ?? 0;
    const writer = this.#events[socket];
    const events = writer?.begin() === true ? writer : undefined;
    this.#rules[socket]?.setTime();
    this.#forwarding?.begin(came);
    this.#guards[socket]?.beginBatch(received, came);
    const proxies = this.#proxies[socket];
    for (let index = 0; index < received; index++)
      if (proxies === undefined || this.#takeHeader(proxies, index))
        this.#answerPacket(socket, index, events);
    this.#batch.send(fd);
    this.#drops[socket]?.add(DROPPED.RESPONSES, this.#batch.refused + this.#batch.blocked);
    this.#forwarding?.end();
    events?.publish();
    const now = this.#clock.monotonic();
    this.#answers.leave(now - came);
    this.#steering?.note(received, now, now - came);
    this.#count(COUNTER.batches, 1);
    this.#count(COUNTER.packets, received);
    this.#count(COUNTER.refused, this.#batch.refused);
    this.#count(COUNTER.blocked, this.#batch.blocked);
    // An order ends the wait.
    if (received === 1 && this.#coalesce > 0) Atomics.wait(this.#orders, 0, ORDER.RUN, this.#coalesce);
    return true;
  }

  #noteDropped(socket: number): void {
    this.#drops[socket]?.add(DROPPED.QUERIES, 1);
  }

  #noteReceiveError(errno: number): true {
    this.#count(COUNTER.receiveErrors, 1);
    this.#count(COUNTER.failing, 1);
    this.#failing++;
    if (this.#failing === FAILING_CALLS) this.#messages.reportDeafness(libc().errorName(errno));
    Atomics.wait(this.#orders, 0, ORDER.RUN, PAUSE_AFTER_ERROR_MILLISECONDS);
    return true;
  }

  #noteReceived(): void {
    this.#failing = 0;
    this.#counts[COUNTER.failing] = 0;
  }

  /** @returns whether to answer the packet */
  #takeHeader(proxies: ProxiedPackets, index: number): boolean {
    const batch = this.#batch;
    if (proxies.take(batch, index)) return true;
    this.#count(COUNTER.badHeaders, 1);
    if (this.#now >= this.#headerReported + HEADERS_REPORTED_MILLISECONDS) {
      this.#headerReported = this.#now;
      this.#messages.reportHeader(decodeSocketAddress(batch.octets, batch.locateClient(index)).address);
    }
    return false;
  }

  #answerPacket(socket: number, index: number, events: QueryEventWriter | undefined): void {
    const batch = this.#batch;
    const start = batch.startAt(index);
    const length = batch.lengthAt(index);
    if (this.#guards[socket]?.admits(batch.octets, batch.locateClient(index)) === false) {
      this.#count(COUNTER.shed, 1);
      this.#noteDropped(socket);
      return;
    }
    events?.noteQuery(this.#view, start, Math.min(length, batch.packetSize), 0);
    const rules = this.#rules[socket];
    const verdict =
      rules === undefined
        ? this.#answerOne(index, start, length)
        : this.#answerByRules(rules, index, start, length);
    if (verdict > 0) {
      if (events?.wants(batch.octets, start, verdict) === true)
        events.write(this.#view, start, verdict, batch, index);
      batch.answer(index, verdict);
    } else if (verdict < 0 && this.#forwarding?.take(batch, index, socket) !== true)
      this.#questions.push(socket, batch, index, batch.octets, start, length, this.#now);
  }

  #answerOne(index: number, start: number, length: number): number {
    return this.#batch.isCut(index) ? this.#rejectCut(start, length) : this.#tryAnswer(index, start, length);
  }

  #answerByRules(rules: ClientRuleChecker, index: number, start: number, length: number): number {
    const { octets } = this.#batch;
    const client = this.#batch.locateClient(index);
    const access = rules.judgeAccess(octets, client);
    const asked = access === DECISION.PASS ? rules.judgeQuery(octets, client, octets, start, length) : access;
    if (asked !== DECISION.PASS) {
      this.#count(access === DECISION.PASS ? COUNTER.limited : COUNTER.denied, 1);
      return carryOut(asked, octets, start, length, this.#udpSize);
    }
    const answered = this.#answerOne(index, start, length);
    if (answered <= 0) return answered;
    const response = rules.judgeResponse(octets, client, octets, start, answered);
    if (response === DECISION.PASS) return answered;
    this.#count(COUNTER.limited, 1);
    return response === DECISION.DROP ? 0 : truncateResponse(octets, start, answered, this.#udpSize);
  }

  /** A packet that causes an exception must not end the reader: its client may repeat it. */
  #tryAnswer(index: number, start: number, length: number): number {
    const batch = this.#batch;
    const { octets, packetSize } = batch;
    try {
      return this.#answers.answer(
        octets,
        start,
        length,
        packetSize,
        'udp',
        this.#group,
        batch.locateClient(index),
      );
    } catch (error) {
      this.#noteFault(error);
      return failQuery(octets, start, length, this.#udpSize);
    }
  }

  #noteFault(error: unknown): void {
    this.#count(COUNTER.faults, 1);
    if (this.#faultsReported++ < MAX_FAULTS_REPORTED) this.#messages.reportFault(error);
  }

  #rejectCut(start: number, length: number): number {
    this.#count(COUNTER.cut, 1);
    const isResponse = ((this.#batch.octets[start + 2] ?? 0) & 0x80) !== 0;
    if (isResponse) return 0;
    return writeErrorResponse(this.#batch.octets, start, length, RCODE.FORMERR, this.#udpSize);
  }

  #count(counter: number, more: number): void {
    this.#counts[counter] = (this.#counts[counter] ?? 0) + more;
  }
}

/** Sockets with the same ring share one writer. */
function makeEventWriters(rings: ReaderData['events']): readonly (QueryEventWriter | undefined)[] {
  const writers = new Map<SharedArrayBuffer, QueryEventWriter>();
  for (const ring of rings)
    if (ring !== undefined && !writers.has(ring)) writers.set(ring, new QueryEventWriter(ring));
  return rings.map((ring) => ring && writers.get(ring));
}
