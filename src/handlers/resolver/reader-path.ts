/**
 * The main thread's part of forwarding in the readers: it says what they may forward, takes their replies into the cache and into the
 * counters, and goes on with the questions that they give up.
 *
 * `forward/reader-path/` is the readers' part.
 */
import { isDeepStrictEqual } from 'node:util';
import type { PendingQuery } from '../../chain/pending-query.ts';
import type { OtherThreads } from '../../forward/admission/admission.ts';
import type { DirectRoute } from '../../forward/direct-route.ts';
import { FILL_FLAG, FillConsumer, makeFillRing } from '../../forward/reader-path/fill-ring.ts';
import type { ReaderPathData, TakenOver } from '../../forward/reader-path/owner.ts';
import { CLOSED_POLICY, type OpenRoute, type ReaderPolicy } from '../../forward/reader-path/reader-policy.ts';
import { COUNT, MAX_SOCKETS, makeSharedWords, SharedWords } from '../../forward/reader-path/shared-words.ts';
import type { GroupQuestion } from '../../forward/server-group.ts';
import { replyFrom } from '../../forward/transport/outstanding.ts';
import { RawReply } from '../../forward/transport/raw-reply.ts';
import type { ExchangeEvents } from '../../forward/transport/transport.ts';
import { FORGERY_SUSPECTED } from '../../forward/transport/udp-transport.ts';
import type { Upstream } from '../../forward/upstream/upstream.ts';
import { encodeSocketAddress } from '../../socket/addresses.ts';
import { closeDescriptor } from '../../socket/descriptor.ts';
import { ENVELOPE } from '../../socket/envelope.ts';
import { libc } from '../../socket/libc.ts';
import { PARSED, QuestionReader } from '../../table/question.ts';
import { encodeName } from '../../wire/name.ts';
import { plainKey } from '../../wire/name-wire.ts';
import type { NameKey, WireName } from '../../wire/types.ts';
import { RESOLVER_OUTCOME } from './outcomes.ts';
import type { ResolverParts } from './packet-path.ts';
import { RawResponses, type WaitingQuery } from './raw-replies.ts';

export interface ReaderPathOptions {
  /** Reader threads. */
  readonly readers: number;
  /**
   * Names with all below them that handlers before the resolver may answer, for questions for addresses; undefined: it cannot be
   * said, and readers forward nothing.
   */
  readonly exceptions: () => readonly NameKey[] | undefined;
  /** Whether no name is known here, so that a denial from upstream is true. */
  readonly believesDenials: () => boolean;
  /** Whether an expired answer is served before a new one has come. */
  readonly servesStaleAtOnce: () => boolean;
  /** What answers are counted as. */
  readonly outcome: number;
}

/** Octets of replies that wait for the main thread, of each reader. */
const RING_OCTETS = 256 * 1024;
/** Upstream sockets of all readers together: a network namespace has some 28,000 ports, on a node's network those of the node. */
const MAX_SOCKETS_OF_ALL = 512;
/** Milliseconds that a ticket is kept longer than a reply to it is of use. */
const TICKET_MARGIN = 1000;
/** Replies that are taken in without letting other work in between. */
const FILLS_PER_TURN = 256;
const TICKETS_PER_READER = 2 ** 32;
const MAX_UDP_SIZE = 4096;

interface Ticket {
  exchange: Pick<ExchangeEvents, 'replied' | 'failed'> | undefined;
  readonly query: { readonly octets: Uint8Array; readonly questionEnd: number; readonly hasEdns: boolean };
  readonly until: number;
}

export class ReaderPath implements OtherThreads {
  /** Told of each new policy, which is to be posted to all readers before this returns. */
  onPolicy: (policy: ReaderPolicy) => void = () => {};
  readonly #parts: ResolverParts;
  readonly #options: ReaderPathOptions;
  readonly #memory: SharedArrayBuffer;
  readonly #words: SharedWords;
  readonly #fills: readonly { readonly memory: SharedArrayBuffer; readonly consumer: FillConsumer }[];
  readonly #raw = new RawReply();
  readonly #responses: RawResponses;
  readonly #reader = new QuestionReader();
  readonly #upstreams = new Map<number, Upstream>();
  readonly #tickets = new Map<number, Ticket>();
  /** Counts that were taken over from the readers so far. */
  readonly #counted: Float64Array;
  readonly #sums = new Float64Array(Object.keys(COUNT).length);
  #policy: ReaderPolicy = CLOSED_POLICY;
  #direct: DirectRoute<GroupQuestion> | undefined;
  #numbers = 0;

  constructor(parts: ResolverParts, options: ReaderPathOptions) {
    this.#parts = parts;
    this.#options = options;
    const { readers } = options;
    this.#memory = makeSharedWords(readers);
    this.#words = new SharedWords(this.#memory, readers);
    this.#counted = new Float64Array(this.#words.counts.length);
    this.#fills = Array.from({ length: readers }, () => {
      const memory = makeFillRing(RING_OCTETS);
      return { memory, consumer: new FillConsumer(memory) };
    });
    this.#responses = new RawResponses(parts.table, parts.clock, MAX_UDP_SIZE);
    parts.forwarder.onRouteChange = () => this.update();
    this.update();
  }

  /** What a reader starts with. */
  dataOf(reader: number): ReaderPathData {
    const { readers } = this.#options;
    return {
      words: this.#memory,
      readers,
      fills: this.#fills[reader]?.memory ?? makeFillRing(RING_OCTETS),
      maxSockets: Math.min(MAX_SOCKETS, Math.max(1, Math.floor(MAX_SOCKETS_OF_ALL / readers))),
      policy: this.#policy,
    };
  }

  /** To be called when what answers are made from has changed, before cached answers are dropped for it. */
  noteGeneration(): void {
    this.#words.generation = this.#parts.cachingResolver.generation;
  }

  /** To be called when what `options` say, the settings or what answers are made from may have changed. */
  update(): void {
    this.noteGeneration();
    const direct = this.#findDirect();
    if (direct?.upstream !== this.#direct?.upstream || direct?.group !== this.#direct?.group) {
      this.#fold();
      if (this.#direct !== undefined) this.#direct.upstream.inFlightElsewhere = 0;
      this.#direct?.group.admission.countOthers(undefined);
      direct?.group.admission.countOthers(this);
    }
    this.#direct = direct;
    this.#publishTimeout();
    const route = direct && this.#routeBy(direct);
    if (isDeepStrictEqual(route, this.#policy.route)) return;
    this.#policy = { number: this.#policy.number + 1, route };
    this.onPolicy(this.#policy);
    this.#words.policy = this.#policy.number;
  }

  #findDirect(): DirectRoute<GroupQuestion> | undefined {
    return this.#parts.isUsable() ? this.#parts.forwarder.directRoute() : undefined;
  }

  #routeBy({ upstream, peer, plan, exceptions }: DirectRoute<GroupQuestion>): OpenRoute | undefined {
    const concerned = this.#options.exceptions();
    if (concerned === undefined) return undefined;
    const { inFlight } = plan.limits;
    return {
      server: this.#numberOf(upstream),
      peer,
      udpSize: plan.udpSize,
      trustsAd: plan.trustsAd,
      // Beyond, who has how many counts; `Admission` knows.
      limit: inFlight - (inFlight >> 2),
      deadline: plan.timing.deadline,
      exceptions: [...exceptions, ...concerned].map((name): WireName => encodeName(name)),
      believesDenials: this.#options.believesDenials(),
      servesStaleAtOnce: this.#options.servesStaleAtOnce(),
      caching: this.#parts.forwarding.settings.caching,
      outcome: this.#options.outcome,
      keptOutcome: RESOLVER_OUTCOME.answered,
    };
  }

  #numberOf(upstream: Upstream): number {
    for (const [number, known] of this.#upstreams) if (known === upstream) return number;
    this.#numbers += 1;
    this.#upstreams.set(this.#numbers, upstream);
    // Queries of servers before the last few are long over.
    this.#upstreams.delete(this.#numbers - 64);
    return this.#numbers;
  }

  #publishTimeout(): void {
    if (this.#direct !== undefined) this.#words.timeout = this.#direct.upstream.roundTrip.timeout();
  }

  get running(): number {
    return this.#words.readersRunning;
  }

  runningOf(client: string): number {
    const address = encodeSocketAddress({ address: client, port: 0 });
    const envelope = new Uint8Array(ENVELOPE.OCTETS);
    envelope.set(address);
    envelope[ENVELOPE.NAME_LENGTH] = address.length;
    return this.#words.runningOf(this.#words.groupOf(envelope, 0));
  }

  publish(running: number): void {
    this.#words.mainRunning = running;
  }

  /** Takes in replies of the readers, some at a time. */
  drain(): 'none' | 'some' | 'more' {
    const taken = this.#fills.map(({ consumer }) => this.#drain(consumer));
    this.#fold();
    this.#publishTimeout();
    this.#direct?.group.admission.resume();
    const max = Math.max(...taken);
    if (max === FILLS_PER_TURN || this.#direct?.group.admission.hasWaiting === true) return 'more';
    return max === 0 ? 'none' : 'some';
  }

  /** Lets the next reply wake us. @returns whether there is none already */
  sleep(): boolean {
    return this.#fills.map(({ consumer }) => consumer.sleep()).every((isEmpty) => isEmpty);
  }

  #drain(fill: FillConsumer): number {
    let taken = 0;
    const now = this.#parts.clock.monotonic();
    while (taken < FILLS_PER_TURN && fill.read()) {
      this.#takeIn(fill, now);
      fill.release();
      taken += 1;
    }
    return taken;
  }

  #takeIn(fill: FillConsumer, now: number): void {
    const { forwarding, cachingResolver, isUsable, table } = this.#parts;
    const upstream = this.#upstreams.get(fill.server);
    const milliseconds = fill.microseconds / 1000;
    upstream?.heard(milliseconds, now);
    for (let client = 0; client < fill.clients; client += 1) forwarding.observe(milliseconds);
    if ((fill.flags & FILL_FLAG.HAS_OPT) !== 0) upstream?.edns.noteOpt();
    if (!isUsable() || (cachingResolver.generation | 0) !== fill.generation) return;
    const isOfPolicy = fill.entryLength > 0 && fill.policy === this.#policy.number;
    if (!isOfPolicy || !table.cacheEncoded(fill.words, fill.entryWord, fill.entryLength)) this.#cache(fill);
  }

  /** Makes the entry here, or drops an older one where there is to be none. */
  #cache({ octets, start, length, questionEnd, flags }: FillConsumer): void {
    const { forwarding } = this.#parts;
    const typeAt = start + questionEnd - 4;
    const type = ((octets[typeAt] ?? 0) << 8) | (octets[typeAt + 1] ?? 0);
    const dnsClass = ((octets[typeAt + 2] ?? 0) << 8) | (octets[typeAt + 3] ?? 0);
    if (!this.#raw.read(octets, start, length, questionEnd, type, dnsClass)) return;
    this.#raw.authenticData &&= this.#policy.route?.trustsAd === true;
    const question = {
      type,
      class: dnsClass,
      dnssecOk: (flags & FILL_FLAG.DNSSEC_OK) !== 0,
      checkingDisabled: (flags & FILL_FLAG.CHECKING_DISABLED) !== 0,
      recursionDesired: true,
    };
    const query: WaitingQuery = {
      octets,
      start,
      questionEnd,
      question,
      hasOpt: false,
      udpSize: MAX_UDP_SIZE,
    };
    this.#responses.replace(query, this.#raw, forwarding.settings.caching);
  }

  /** Adds what the readers have counted since the last time. */
  #fold(): void {
    const { forwarder, cachingResolver } = this.#parts;
    const { counts } = this.#words;
    const sums = this.#sums.fill(0);
    for (let reader = 0; reader < this.#options.readers; reader += 1) {
      const from = this.#words.countsOf(reader);
      for (let count = 0; count < sums.length; count += 1) {
        const now = counts[from + count] ?? 0;
        sums[count] = (sums[count] ?? 0) + now - (this.#counted[from + count] ?? 0);
        this.#counted[from + count] = now;
      }
    }
    const since = (count: keyof typeof COUNT): number => sums[COUNT[count]] ?? 0;
    cachingResolver.noteMisses(since('told'));
    forwarder.noteCoalesced(since('coalesced'));
    if (this.#direct === undefined) return;
    const { upstream, group } = this.#direct;
    const [sent, strange] = [since('sent'), since('strange')];
    const rest = {
      answers: since('answers'),
      denials: since('denials'),
      otherQuestion: since('otherQuestion'),
    };
    upstream.count({ sent, strange, ...rest });
    upstream.inFlightElsewhere = this.running;
    group.budget.earn(sent);
  }

  /** Brings the counters up to date. */
  count(): void {
    this.#fold();
  }

  /** A reader gives up a question, which is then asked as any other. */
  takeOver(reader: number, pending: PendingQuery, { ticket, server, elapsed }: Readonly<TakenOver>): void {
    const { clock, forwarder } = this.#parts;
    const number = reader * TICKETS_PER_READER + ticket;
    const upstream = this.#upstreams.get(server);
    if (upstream === undefined || this.#tickets.has(number)) return;
    const { octets, view, start, length } = pending;
    const question = this.#reader;
    if (question.parse(octets, view, start, length) !== PARSED.QUESTION) return;
    const name = plainKey(question.name);
    if (name === undefined) return;
    const { type, dnsClass, dnssecOk, checkingDisabled } = question;
    const now = clock.monotonic();
    this.#forgetTickets(now);
    const questionEnd = question.end - start;
    const until = now + forwarder.deadline + TICKET_MARGIN;
    const query = { octets: octets.slice(start, start + questionEnd), questionEnd, hasEdns: true };
    const kept: Ticket = { exchange: undefined, query, until };
    this.#tickets.set(number, kept);
    const key = { name, type, class: dnsClass, dnssecOk, checkingDisabled, recursionDesired: true };
    const onTaken = (exchange: Ticket['exchange']) => {
      kept.exchange = exchange;
    };
    forwarder.tried.add(key, { upstream, askedAt: now - elapsed, onTaken });
  }

  /** The oldest come first. */
  #forgetTickets(now: number): void {
    for (const [number, { until }] of this.#tickets) {
      if (until > now) return;
      this.#tickets.delete(number);
    }
  }

  /** A packet has come for a question that was given up. @param packet the reply, from `start` on */
  takeReply(
    reader: number,
    ticket: number,
    isCut: boolean,
    packet: Uint8Array,
    start: number,
    length: number,
  ): void {
    const kept = this.#tickets.get(reader * TICKETS_PER_READER + ticket);
    if (kept?.exchange === undefined) return;
    const reply = replyFrom(packet, start, length, isCut, kept.query);
    if (reply === undefined) kept.exchange.failed('malformed');
    else kept.exchange.replied(reply);
  }

  /** The network has refused the query of such a question. @param errno 0: packets of a forger came */
  takeFailure(reader: number, ticket: number, errno: number): void {
    const kept = this.#tickets.get(reader * TICKETS_PER_READER + ticket);
    kept?.exchange?.failed(errno === 0 ? FORGERY_SUSPECTED : libc().errorName(errno));
  }

  /** The thread of a reader is gone, with what it had under way. */
  readerDied(reader: number): void {
    for (const fd of this.#words.forgetReader(reader)) closeDescriptor(fd);
  }
}
