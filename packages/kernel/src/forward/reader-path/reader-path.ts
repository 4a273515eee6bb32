/**
 * The main thread's part of forwarding in readers, for all routes of the process: it publishes the policy, passes
 * replies to the owners of routes, and continues with questions that readers give up.
 *
 * `reader-forwarder.ts` is the readers' part; `linked-forwarder.ts` has the state for one `Forwarder`.
 */
import { plainKey } from '@portolan/dns/name-wire.ts';
import type { Message } from '@portolan/dns/types.ts';
import type { Clock } from '../../base/clock.ts';
import { closeDescriptor } from '../../socket/descriptor.ts';
import { libc } from '../../socket/libc.ts';
import { PARSED, QuestionReader } from '../../table/question.ts';
import type { Forwarder } from '../forwarder.ts';
import { replyFrom } from '../transport/outstanding.ts';
import type { ExchangeEvents } from '../transport/transport.ts';
import { FORGERY_SUSPECTED } from '../transport/udp-transport.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { FILL_FLAG, FillConsumer, makeFillRing } from './fill-ring.ts';
import { KnownServers } from './known-servers.ts';
import { type AllRoutes, type ForwardedRoute, LinkedForwarder } from './linked-forwarder.ts';
import { measurePassed } from './pending-queries.ts';
import type { QueryOctets, ReaderPathData, TakenOver } from './reader-host.ts';
import { CLOSED_POLICY, type ReaderPolicy } from './reader-policy.ts';
import { MAX_GROUPS, MAX_SOCKETS, makeSharedWords, SharedWords } from './shared-words.ts';

/** Octets of each reader's replies that may wait for the main thread. */
const RING_OCTETS = 256 * 1024;
/** Upstream sockets of all readers together: a network namespace has some 28,000 ports; on the host network these are the node's. */
const MAX_SOCKETS_OF_ALL = 512;
/** Milliseconds that a ticket is kept after a reply to it becomes useless. */
const TICKET_MARGIN = 1000;
/** Replies to process in one turn of the event loop. */
const FILLS_PER_TURN = 256;
/** This many turns empty a full ring. */
const TURNS_OF_RING = RING_OCTETS / 64 / FILLS_PER_TURN;
const TICKETS_PER_READER = 2 ** 32;
/** Maximum of route numbers. */
const MAX_ROUTES = 0xffff;

type TakenExchange = Pick<ExchangeEvents, 'replied' | 'failed'>;

interface OverdueQuery {
  /** Undefined: the question still waits for its turn on the main thread. */
  exchange: TakenExchange | undefined;
  /** Reports what came before the exchange was taken. */
  early: ((exchange: TakenExchange) => void) | undefined;
  readonly until: number;
}

/** Counts of queries. */
export interface ForwardedQueries {
  readonly reader: number;
  readonly main: number;
}

export class ReaderPath implements AllRoutes {
  readonly words: SharedWords;
  readonly #readers: number;
  readonly #clock: Clock;
  readonly #memory: SharedArrayBuffer;
  readonly #fills: readonly { readonly memory: SharedArrayBuffer; readonly consumer: FillConsumer }[];
  readonly #reader = new QuestionReader();
  readonly #servers: KnownServers;
  readonly #tickets = new Map<number, OverdueQuery>();
  /** By their groups, which are numbered without a gap where possible. */
  readonly #links = new Map<number, LinkedForwarder>();
  /** By the number of the route. */
  readonly #routes = new Map<number, { readonly route: ForwardedRoute; readonly owner: LinkedForwarder }>();
  readonly #posts = new Set<(policy: ReaderPolicy) => void>();
  readonly #forwarded = { reader: 0, main: 0 };
  #policy: ReaderPolicy = CLOSED_POLICY;
  #generation = 0;
  #lastRoute = 0;
  /** Whether policies wait until a change of several routes is complete, and whether there is one. */
  #isHeld = false;
  #hasChanged = false;

  /** @param readers number of reader threads */
  constructor(readers: number, clock: Clock) {
    this.#readers = readers;
    this.#clock = clock;
    this.#memory = makeSharedWords(readers);
    this.words = new SharedWords(this.#memory, readers);
    this.#servers = new KnownServers(this.words);
    this.#fills = Array.from({ length: readers }, () => {
      const memory = makeFillRing(RING_OCTETS);
      return { memory, consumer: new FillConsumer(memory) };
    });
  }

  /**
   * Reports each new policy. Post it to the readers before `post` returns.
   *
   * @returns a function that stops the reports
   */
  follow(post: (policy: ReaderPolicy) => void): () => void {
    this.#posts.add(post);
    return () => this.#posts.delete(post);
  }

  /** The start parameters of a reader. */
  createReaderData(reader: number): ReaderPathData {
    const readers = this.#readers;
    return {
      words: this.#memory,
      readers,
      fills: this.#fills[reader]?.memory ?? makeFillRing(RING_OCTETS),
      maxSockets: Math.min(MAX_SOCKETS, Math.max(1, Math.floor(MAX_SOCKETS_OF_ALL / readers))),
      policy: this.#policy,
    };
  }

  /** Lets readers ask the servers of a forwarder. @returns undefined if there are too many forwarders */
  link(forwarder: Forwarder): LinkedForwarder | undefined {
    // The last group is the first one to try: links come one after the other.
    let group = this.#links.size;
    if (group >= MAX_GROUPS) return undefined;
    while (this.#links.has(group)) group -= 1;
    const link = new LinkedForwarder(forwarder, group, this);
    this.#links.set(group, link);
    return link;
  }

  /** Call it once it has no open routes. @internal for `LinkedForwarder` */
  unlink(link: LinkedForwarder): void {
    this.fold(link);
    this.#forwarded.main += link.sentByMain;
    this.#links.delete(link.group);
    for (const server of this.#servers.listServers(link)) this.#servers.forget(server);
  }

  /** Assigns the least recently used route number. @internal for `LinkedForwarder` */
  addRoute(route: ForwardedRoute, owner: LinkedForwarder): number {
    do this.#lastRoute = (this.#lastRoute % MAX_ROUTES) + 1;
    while (this.#routes.has(this.#lastRoute));
    this.#routes.set(this.#lastRoute, { route, owner });
    return this.#lastRoute;
  }

  /** @internal for `LinkedForwarder` */
  removeRoute(number: number): void {
    this.#routes.delete(number);
  }

  /** Call it when the sources of answers have changed, before dropping the affected cached answers. */
  noteGeneration(): void {
    this.#generation = (this.#generation + 1) | 0;
    this.words.generation = this.#generation;
  }

  /**
   * Changes routes, and posts them to the readers once, at the end: blocks open a route for each of their zones.
   *
   * @throws what `change` throws, after the post
   */
  changeTogether(change: () => void): void {
    if (this.#isHeld) {
      change();
      return;
    }
    this.#isHeld = true;
    try {
      change();
    } finally {
      this.#isHeld = false;
      if (this.#hasChanged) this.publish();
    }
  }

  /** Posts the currently open routes. Call it when they have changed. @internal for `LinkedForwarder` */
  publish(): void {
    this.#hasChanged = this.#isHeld;
    if (this.#isHeld) return;
    const routes = [...this.#links.values()].flatMap((link) => link.openRoutes);
    this.#policy = { number: this.#policy.number + 1, routes };
    this.#forgetLeft();
    for (const post of this.#posts) post(this.#policy);
    this.words.policy = this.#policy.number;
  }

  /** @internal for `LinkedForwarder` */
  assignServerNumber(upstream: Upstream, owner: LinkedForwarder): number | undefined {
    return this.#servers.getOrAdd(upstream, owner)?.number;
  }

  /** Forgets servers that left an earlier policy and have no queries of readers in flight. */
  #forgetLeft(): void {
    const now = this.#clock.monotonic();
    const asked = new Set(this.#policy.routes.flatMap(({ servers }) => servers.map(({ number }) => number)));
    for (const server of this.#servers.all()) {
      const { number, owner, leftAt } = server;
      // Readers still ask a removed server until they get the policy.
      if (asked.has(number) || leftAt === undefined) server.leftAt = asked.has(number) ? undefined : now;
      else if (owner.running === 0 || now >= leftAt + owner.forwarder.deadline + TICKET_MARGIN) {
        this.fold(owner);
        this.#servers.forget(server);
      }
    }
  }

  /** Takes in replies of the readers, some at a time. */
  drain(): 'none' | 'some' | 'more' {
    const taken = this.#fills.map(({ consumer }) => this.#drain(consumer));
    this.#forgetTickets(this.#clock.monotonic());
    this.#count();
    let hasWaiting = false;
    for (const link of this.#links.values()) hasWaiting = link.resume() || hasWaiting;
    const max = Math.max(...taken);
    if (max === FILLS_PER_TURN || hasWaiting) return 'more';
    return max === 0 ? 'none' : 'some';
  }

  /** Requests a wake-up by the next reply. @returns whether none is waiting already */
  sleep(): boolean {
    return this.#fills.map(({ consumer }) => consumer.sleep()).every((isEmpty) => isEmpty);
  }

  #drain(fill: FillConsumer): number {
    let taken = 0;
    const now = this.#clock.monotonic();
    while (taken < FILLS_PER_TURN && fill.read()) {
      this.#takeIn(fill, now);
      fill.release();
      taken += 1;
    }
    return taken;
  }

  #takeIn(fill: FillConsumer, now: number): void {
    const upstream = this.#servers.find(fill.server)?.upstream;
    upstream?.heard(fill.microseconds / 1000, now);
    if ((fill.flags & FILL_FLAG.HAD_EDNS) !== 0) upstream?.edns.noteAnswered();
    const route = this.#routes.get(fill.route)?.route;
    route?.observe(fill, upstream);
    if (route === undefined || this.#generation !== fill.generation) return;
    route.keep(fill, fill.entryLength > 0 && fill.policy === this.#policy.number);
  }

  /** Takes in all replies so far, to update cache and counters. Call it before showing them. */
  catchUp(): void {
    for (const { consumer } of this.#fills)
      for (let turn = 0; turn < TURNS_OF_RING && this.#drain(consumer) === FILLS_PER_TURN; turn += 1);
    this.#count();
  }

  /** Updates the counters of all forwarders. */
  #count(): void {
    for (const link of this.#links.values()) this.fold(link);
  }

  /** Queries to servers that readers may ask, by sending thread. */
  countForwarded(): ForwardedQueries {
    this.#count();
    const { reader, main } = this.#forwarded;
    return {
      reader,
      main: [...this.#links.values()].reduce((sum, { sentByMain }) => sum + sentByMain, main),
    };
  }

  /** Adds the readers' counts for a forwarder since the last call. @internal for `LinkedForwarder` */
  fold(link: LinkedForwarder): void {
    let sent = 0;
    for (const { upstream, counts } of this.#servers.listServers(link)) {
      const since = counts.take();
      if (since === undefined) continue;
      upstream.count(since);
      sent += since.sent;
    }
    this.#forwarded.reader += sent;
    link.note(sent, link.counts.take());
  }

  /** A reader gives up a question, which then takes the usual path. */
  takeOver(reader: number, { octets, view, start, length }: QueryOctets, about: Readonly<TakenOver>): void {
    const { ticket, server, elapsed } = about;
    const number = reader * TICKETS_PER_READER + ticket;
    const known = this.#servers.find(server);
    if (known === undefined || this.#tickets.has(number)) return;
    const question = this.#reader;
    if (question.parse(octets, view, start, length) !== PARSED.QUESTION) return;
    const name = plainKey(question.name);
    if (name === undefined) return;
    const { type, dnsClass, dnssecOk, checkingDisabled } = question;
    const { forwarder } = known.owner;
    const now = this.#clock.monotonic();
    this.#forgetTickets(now);
    const until = now + forwarder.deadline + TICKET_MARGIN;
    const kept: OverdueQuery = { exchange: undefined, early: undefined, until };
    this.#tickets.set(number, kept);
    const passed = forwarder.passesOptions ? measurePassed(question) : 0;
    const { optionsStart } = question;
    const options = passed === 0 ? undefined : octets.slice(optionsStart, optionsStart + passed);
    const flags = { dnssecOk, checkingDisabled, recursionDesired: true };
    const key = { name, type, class: dnsClass, ...flags, options };
    const onTaken = (exchange: TakenExchange) => {
      kept.exchange = exchange;
      kept.early?.(exchange);
      kept.early = undefined;
    };
    forwarder.tried.add(key, { upstream: known.upstream, askedAt: now - elapsed, onTaken });
  }

  /** The oldest come first. */
  #forgetTickets(now: number): void {
    for (const [number, { until }] of this.#tickets) {
      if (until > now) return;
      this.#tickets.delete(number);
    }
  }

  /** A packet came for a question that was given up. @param packet the reply, from `start` on */
  takeReply(
    reader: number,
    ticket: number,
    isCut: boolean,
    packet: Uint8Array,
    start: number,
    length: number,
  ): void {
    const kept = this.#tickets.get(reader * TICKETS_PER_READER + ticket);
    if (kept === undefined) return;
    const { exchange } = kept;
    if (exchange !== undefined) {
      report(exchange, replyFrom(packet, start, length, isCut));
      return;
    }
    // The packet is only lent.
    const copy = packet.slice(start, start + length);
    kept.early ??= (taken) => report(taken, replyFrom(copy, 0, length, isCut));
  }

  /** The network refused the query of such a question. @param errno 0: forged packets came */
  takeFailure(reader: number, ticket: number, errno: number): void {
    const kept = this.#tickets.get(reader * TICKETS_PER_READER + ticket);
    if (kept === undefined) return;
    const code = errno === 0 ? FORGERY_SUSPECTED : libc().errorName(errno);
    if (kept.exchange === undefined) kept.early ??= (taken) => taken.failed(code);
    else kept.exchange.failed(code);
  }

  /** A reader's thread has died, and with it its questions in flight. */
  readerDied(reader: number): void {
    for (const fd of this.words.forgetReader(reader)) closeDescriptor(fd);
  }
}

/** @param reply undefined if it is malformed */
function report(exchange: TakenExchange, reply: Message | undefined): void {
  if (reply === undefined) exchange.failed('malformed');
  else exchange.replied(reply);
}
