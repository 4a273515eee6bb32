/**
 * Questions that others must answer: sent to the upstream servers that a plan names for them, and brought back clean.
 *
 * Equal questions under way are one. How many may be under way, and whose turn it is, `Admission` decides; which servers a
 * question asks, in which order and how often, `Resolution` does.
 */
import type { Clock } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import { toKey } from '../wire/name.ts';
import type { NameKey, Question } from '../wire/types.ts';
import { Admission } from './admission/admission.ts';
import { type Connect, connectBySockets } from './connect.ts';
import { DueLine } from './due-line.ts';
import { Flight, type ReplyWaiter } from './flight.ts';
import { type FlightQuestion, Flights } from './flights.ts';
import type { FailureReason, ForwardReply } from './forward-reply.ts';
import { HedgeBudget } from './hedge-budget.ts';
import { NamedServers, type ResolveName } from './named-servers.ts';
import type { ForwardPlan, UpstreamServer } from './plan.ts';
import { Probes } from './probes.ts';
import { Resolution, type ResolutionOutcome, type ResolutionTerms } from './resolution.ts';
import { buildRoutes, type Routes, type ServersRoute } from './routes.ts';
import { sanitise } from './sanitise.ts';
import { PlainReply } from './transport/plain-reply.ts';
import type { ForwardQuestion } from './transport/query-message.ts';
import { Upstream, type UpstreamStatistics } from './upstream/upstream.ts';
import { formatUpstream } from './upstream-address.ts';

export type { ReplyWaiter } from './flight.ts';
export type { FlightQuestion } from './flights.ts';
export type { FailureReason, ForwardReply } from './forward-reply.ts';
export type { ForwardQuestion } from './transport/query-message.ts';

export interface Client {
  /** Whom the question counts for; empty for ourselves. */
  readonly address: string;
}

export interface ForwardStatistics {
  /** Questions under way upstream, and questions that wait for their turn. */
  readonly inFlight: number;
  readonly queued: number;
  /** Questions that were answered with the reply to an equal one. */
  readonly coalesced: number;
  /** Refused for being too many. */
  readonly refused: number;
  /** Second servers asked because the first was slower than usual. */
  readonly hedged: number;
  /** Records of replies that did not belong to their question. */
  readonly droppedRecords: number;
  readonly upstreams: readonly UpstreamStatistics[];
}

export interface ForwarderOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly resolveName: ResolveName;
  /** From 0 to below 1, for choices that need not be secret; `Math.random` by default. */
  readonly random?: () => number;
  /** How servers are reached; by sockets by default. */
  readonly connect?: Connect;
}

export class Forwarder {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #connect: Connect;
  readonly #admission: Admission<Flight>;
  readonly #hedges = new HedgeBudget();
  readonly #probes: Probes;
  readonly #names: NamedServers;
  readonly #flights = new Flights<Flight>();
  readonly #retired = new Set<Upstream>();
  #plan: ForwardPlan;
  /** What of the plan each question goes by. */
  #terms: ResolutionTerms;
  #routes: Routes;
  #coalesced = 0;
  #droppedRecords = 0;
  #isStopped = false;

  constructor(plan: ForwardPlan, { clock, log, resolveName, random, connect }: ForwarderOptions) {
    this.#clock = clock;
    this.#random = random ?? Math.random;
    this.#connect = connect ?? connectBySockets;
    this.#plan = plan;
    this.#terms = this.#termsOf(plan);
    this.#admission = new Admission(plan.limits, clock, {
      run: (flight) => this.#start(flight),
      refuse: (flight) => this.#land(flight, OVERLOADED),
    });
    this.#probes = new Probes({
      clock,
      log,
      random: this.#random,
      detectsLoops: () => this.#plan.loopDetection,
      udpSize: () => this.#plan.udpSize,
    });
    this.#names = new NamedServers({ resolveName, clock, log, onChange: () => this.#follow() });
    this.#routes = this.#build(new Map());
    this.#names.follow(this.#routes.names);
  }

  /** Asks upstream. Never rejects. Equal questions get the same object. */
  resolve(question: ForwardQuestion, client: Client): Promise<ForwardReply> {
    const asked = { ...question, name: toKey(question.name) };
    const known = this.#join(asked, client);
    if (known !== undefined) return known.promise();
    const route = this.#judge(asked.name);
    if (route.kind === 'failed') return Promise.resolve(route);
    const flight = new Flight(asked, this.#routes, route);
    const reply = flight.promise();
    this.#launch(flight, client);
    return reply;
  }

  /**
   * The same without a promise, for whoever can use a reply as it comes.
   *
   * @param waiter told once, perhaps before this returns
   * @returns false if there is nobody to ask: nothing was done then, and `resolve` says why
   */
  ask(question: FlightQuestion, client: Client, waiter: ReplyWaiter): boolean {
    const known = this.#join(question, client);
    if (known !== undefined) {
      known.wait(waiter);
      return true;
    }
    const route = this.#judge(question.name);
    if (route.kind === 'failed') return false;
    const flight = new Flight(question, this.#routes, route);
    flight.wait(waiter);
    this.#launch(flight, client);
    return true;
  }

  /** An equal question that is under way. What began under other routes may bring what is wrong by now. */
  #join(question: FlightQuestion, client: Client): Flight | undefined {
    const known = this.#flights.find(question);
    if (known === undefined || known.routes !== this.#routes) return undefined;
    this.#coalesced += 1;
    if (known.ticket !== undefined) this.#admission.share(known.ticket, client.address);
    return known;
  }

  /** Whether a question that came in is a probe of ours that an upstream server sent back; it is taken out then. */
  isOwnProbe(question: Question): boolean {
    return this.#probes.isOwnProbe(question);
  }

  /** Tests all servers for loops: to be called once the server receives queries. New servers are tested as they come. */
  testForLoops(): void {
    this.#probes.testForLoops(this.#routes.upstreams.values());
  }

  /** Follows another plan. What is under way ends as it began; servers in both plans keep what is known of them. */
  change(plan: ForwardPlan): void {
    this.#plan = plan;
    this.#terms = this.#termsOf(plan);
    this.#admission.limit(plan.limits);
    this.#follow();
    this.#names.follow(this.#routes.names);
  }

  statistics(): ForwardStatistics {
    const { running, waiting, refused } = this.#admission.statistics();
    return {
      inFlight: running,
      queued: waiting,
      coalesced: this.#coalesced,
      refused,
      hedged: this.#hedges.taken,
      droppedRecords: this.#droppedRecords,
      upstreams: [...this.#routes.upstreams.values()].map((upstream) => upstream.statistics()),
    };
  }

  /** Ends everything: what is under way fails at once. */
  stop(): void {
    this.#isStopped = true;
    this.#probes.stop();
    this.#names.follow(new Set());
    for (const flight of this.#flights.all()) {
      flight.resolution?.stop();
      this.#land(flight, STOPPED);
    }
    this.#admission.stop();
    for (const upstream of [...this.#routes.upstreams.values(), ...this.#retired]) upstream.close();
    this.#retired.clear();
  }

  /** Who is to be asked for a name, or why nobody is. */
  #judge(name: NameKey): ServersRoute | Failure {
    if (this.#isStopped) return STOPPED;
    const route = this.#routes.rules.find(name);
    if (route === undefined) return failed('no-upstream', 'no server is configured for it');
    if (route.kind === 'local-only') return failed('local-only', 'its domain is answered locally');
    if (route.upstreams.length === 0) return failed('no-upstream', 'no server of its domain has an address');
    if (route.upstreams.every(({ state }) => state.kind === 'looping'))
      return failed('loop', route.upstreams.map(({ text }) => text).join(', '));
    return route;
  }

  #launch(flight: Flight, client: Client): void {
    this.#flights.add(flight);
    const ticket = this.#admission.enter(client.address, flight);
    flight.ticket = ticket;
    // It may have landed before its ticket was known.
    if (flight.hasLanded) this.#admission.leave(ticket);
  }

  #start(flight: Flight): void {
    // The plan may have changed while it waited.
    const isAsLaunched = flight.routes === this.#routes && !this.#isStopped;
    const route = isAsLaunched ? flight.route : this.#judge(flight.question.name);
    if (route.kind === 'failed') {
      this.#land(flight, route);
      return;
    }
    flight.startedAt = this.#clock.monotonic();
    this.#hedges.earn();
    const candidates = route.order.choose(route.upstreams, flight.startedAt);
    const done = (outcome: ResolutionOutcome) => this.#land(flight, this.#present(flight, outcome));
    flight.resolution = new Resolution(flight.question, candidates, this.#terms, done, flight.startedAt);
    flight.resolution.start();
  }

  #present({ question, startedAt }: Flight, outcome: ResolutionOutcome): ForwardReply {
    if (outcome.kind === 'failed') {
      const detail = outcome.codes.length === 0 ? 'no reply' : outcome.codes.join('; ');
      return failed(outcome.reason, detail);
    }
    const milliseconds = this.#clock.monotonic() - startedAt;
    const upstream = outcome.upstream.text;
    // There is nothing in it that could be dropped.
    if (outcome.message instanceof PlainReply)
      return { kind: 'reply', message: outcome.message, upstream, milliseconds };
    const { message, dropped } = sanitise(question, outcome.message);
    this.#droppedRecords += dropped;
    return { kind: 'reply', message, upstream, milliseconds };
  }

  #land(flight: Flight, reply: ForwardReply): void {
    if (!this.#flights.remove(flight)) return;
    flight.land(reply);
    if (flight.ticket !== undefined) this.#admission.leave(flight.ticket);
  }

  #termsOf(plan: ForwardPlan): ResolutionTerms {
    return {
      clock: this.#clock,
      timing: plan.timing,
      deadlines: new DueLine(this.#clock),
      udpSize: plan.udpSize,
      tryNextOn: new Set(plan.tryNextOn),
      takeHedge: plan.hedging ? () => this.#hedges.take() : undefined,
    };
  }

  /** Makes the routes anew after a change of the plan or of a server's addresses. */
  #follow(): void {
    const before = this.#routes.upstreams;
    this.#routes = this.#build(before);
    const now = this.#routes.upstreams;
    for (const [key, upstream] of before) if (!now.has(key)) this.#retire(upstream);
    const fresh = [...now].filter(([key]) => !before.has(key)).map(([, upstream]) => upstream);
    this.#probes.testForLoops(fresh);
  }

  #retire(upstream: Upstream): void {
    this.#probes.remove(upstream);
    for (const other of this.#retired) if (other.statistics().inFlight === 0) this.#retired.delete(other);
    this.#retired.add(upstream);
    upstream.retire();
  }

  #build(before: ReadonlyMap<string, Upstream>): Routes {
    return buildRoutes(this.#plan, before, {
      open: (server, address, domain) => this.#open(server, address, domain),
      addressesOf: (name) => this.#names.addressesOf(name),
      random: this.#random,
    });
  }

  #open({ address: server, queriesPerSecond }: UpstreamServer, address: string, domain: NameKey): Upstream {
    const text =
      server.host.kind === 'address' ? formatUpstream(server) : `${formatUpstream(server)} (${address})`;
    const upstream = new Upstream({
      text,
      transport: this.#connect(server, address, this.#plan, this.#clock),
      queriesPerSecond,
      timing: this.#plan.timing,
      clock: this.#clock,
      onChange: (changed, from) => this.#probes.changed(changed, from),
    });
    this.#probes.add(upstream, domain);
    return upstream;
  }
}

type Failure = Extract<ForwardReply, { readonly kind: 'failed' }>;

const STOPPED = failed('stopped', 'the forwarder was stopped');
const OVERLOADED = failed('overloaded', 'too many questions are under way');

function failed(reason: FailureReason, detail: string): Failure {
  return { kind: 'failed', reason, detail };
}
