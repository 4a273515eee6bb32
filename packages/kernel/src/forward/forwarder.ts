/**
 * Forwards questions to the upstream servers of a plan, and sanitises the replies.
 *
 * Equal questions in flight are merged. For each group of servers, `Admission` decides how many may be in flight, and
 * whose turn it is. `query-state.ts` decides which servers a question asks, in which order and how often.
 */
import { MAX_PLAIN_RCODE, toFullRcode } from '@portolan/dns/edns.ts';
import { rcodeName } from '@portolan/dns/mnemonics.ts';
import { toKey } from '@portolan/dns/name.ts';
import type { NameKey, Question } from '@portolan/dns/types.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { TimerQueue } from '../base/timer-queue.ts';
import { type Connect, connectBySockets } from './connect.ts';
import { type DirectRoute, findDirectRoute } from './direct-route.ts';
import {
  type ForwardPlan,
  isStrictlyOrdered,
  listServers,
  type UpstreamServer,
  withoutServers,
} from './forward-plan.ts';
import { type ForwardFailure, type ForwardReply, failed, OVERLOADED, STOPPED } from './forward-reply.ts';
import type { ForwardStatistics } from './forward-statistics.ts';
import { InflightQuery } from './inflight-query.ts';
import { NamedServers, type ResolveName } from './named-servers.ts';
import { QueryRunner, type QueryRunnerSettings, type QueryRunOutcome } from './query-runner.ts';
import type { QuestionKey } from './question-key.ts';
import { QuestionTable } from './question-table.ts';
import { ReaderAttempts } from './reader-attempts.ts';
import { buildRoutes, isAllDown, isAllSilent, type Routes, type ServersRoute } from './routes.ts';
import { scrubReply } from './scrub-reply.ts';
import { ServerGroup } from './server-group.ts';
import type { ForwardQuestion } from './transport/query-message.ts';
import { Upstream } from './upstream/upstream.ts';
import type { UpstreamStatistics } from './upstream/upstream-statistics.ts';
import { formatUpstream } from './upstream-address.ts';
import { UpstreamProbes } from './upstream-probes.ts';

export type { ForwardReply } from './forward-reply.ts';
export type { ForwardStatistics } from './forward-statistics.ts';
export type { QuestionKey } from './question-key.ts';
export type { ForwardQuestion } from './transport/query-message.ts';

export interface AccountedClient {
  /** The client to charge for the question; empty for our own queries. */
  readonly address: string;
}

/** Events that other code counts. */
export interface ForwarderEvents {
  /** A probe of a silent server got no reply. @param server its address and port */
  probeFailed(server: string): void;
  /** A question found all its servers silent. */
  foundAllSilent(): void;
}

export interface ForwarderOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly resolveName: ResolveName;
  /** From 0 to below 1, for choices that are not security-relevant; `Math.random` by default. */
  readonly random?: () => number;
  /** How to connect to servers; by sockets by default. */
  readonly connect?: Connect;
  readonly events?: ForwarderEvents;
}

export class Forwarder {
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #connect: Connect;
  readonly #extraQueries = { retry: 0, hedge: 0 };
  readonly #events: ForwarderEvents | undefined;
  readonly #probes: UpstreamProbes;
  readonly #names: NamedServers;
  readonly #inflightQueries = new QuestionTable<InflightQuery>();
  readonly #retired = new Set<Upstream>();
  readonly #retiredGroups = new Set<ServerGroup<InflightQuery>>();
  /** With the servers that are switched off. */
  #given: ForwardPlan;
  readonly #off = new Set<string>();
  #plan: ForwardPlan;
  /** The part of the plan that applies to each question. */
  #settings: QueryRunnerSettings;
  #routes: Routes<InflightQuery>;
  #coalesced = 0;
  #refused = 0;
  #droppedRecords = 0;
  #isStopped = false;

  constructor(plan: ForwardPlan, { clock, log, resolveName, random, connect, events }: ForwarderOptions) {
    this.#events = events;
    this.#clock = clock;
    this.tried = new ReaderAttempts(clock);
    this.#random = random ?? Math.random;
    this.#connect = connect ?? connectBySockets;
    this.#given = plan;
    this.#plan = plan;
    this.#settings = this.#createSettings(plan);
    this.#probes = new UpstreamProbes({
      clock,
      log,
      random: this.#random,
      detectsLoops: () => this.#plan.loopDetection,
      udpSize: () => this.#plan.udpSize,
      onFailed: ({ text }) => this.#events?.probeFailed(text),
    });
    this.#names = new NamedServers({ resolveName, clock, log, onChange: () => this.#follow() });
    this.#routes = this.#build({ upstreams: new Map(), groups: new Map() });
    this.#names.follow(this.#routes.names);
  }

  /** Queries that other threads have sent and given up. */
  readonly tried: ReaderAttempts;
  /** Called when the result of `directRoute` may have changed. */
  onRouteChange: () => void = () => {};

  /** Asks upstream. Never rejects. Equal questions share one reply object. */
  resolve(question: ForwardQuestion, client: AccountedClient): Promise<ForwardReply> {
    const asked = { ...question, name: toKey(question.name) };
    const known = this.#join(asked, client);
    if (known !== undefined) return known.reply;
    const route = this.#admitTo(asked.name, client);
    if (route.kind === 'failed') {
      if (route === OVERLOADED) this.#refused += 1;
      return Promise.resolve(route);
    }
    const inflight = this.#open(asked, route);
    this.#admit(inflight, client);
    return inflight.reply;
  }

  #open(question: QuestionKey, route: ServersRoute<InflightQuery>): InflightQuery {
    const tried = question.asReceived === undefined ? this.tried.take(question) : undefined;
    const inflight = new InflightQuery(
      question,
      this.#routes,
      route,
      tried?.askedAt ?? this.#clock.monotonic(),
    );
    inflight.tried = tried;
    return inflight;
  }

  /** Joins an equal question in flight under the same routes: its reply answers this one too. */
  #join(question: QuestionKey, client: AccountedClient): InflightQuery | undefined {
    const known = this.#plan.merges ? this.#inflightQueries.find(question) : undefined;
    if (known === undefined || known.routes !== this.#routes) return undefined;
    this.#coalesced += 1;
    if (known.ticket !== undefined) known.route.group.admission.share(known.ticket, client.address);
    // Questions that another thread hands over together come from several clients, not from one that repeats its question.
    const isRepeat = this.#clock.monotonic() >= known.startedAt + this.#plan.timing.minTimeout;
    if (isRepeat) known.resolution?.repeat();
    return known;
  }

  /** Whether an incoming question is our own probe, sent back by an upstream server. That server is then not asked any more. */
  isOwnProbe(question: Question): boolean {
    return this.#probes.isOwnProbe(question);
  }

  /** Tests all servers for loops. Call it once the server receives queries. New servers are tested when added. */
  testForLoops(): void {
    this.#probes.testForLoops(this.#routes.upstreams.values());
  }

  /** Switches to another plan. Questions in flight end as they began; servers in both plans keep their state. */
  change(given: ForwardPlan): void {
    this.#given = given;
    const plan = withoutServers(given, this.#off);
    this.#plan = plan;
    this.#settings = this.#createSettings(plan);
    this.#follow();
    for (const { admission } of this.#routes.groups.values()) admission.limit(plan.limits);
    this.#names.follow(this.#routes.names);
  }

  /** Stops asking a server, or asks it again. @returns false: no rule has it */
  switchServer(server: string, isOn: boolean): boolean {
    if (!listServers(this.#given).includes(server)) return false;
    if (isOn) this.#off.delete(server);
    else this.#off.add(server);
    this.change(this.#given);
    return true;
  }

  /** The servers of its rules that are switched off. */
  get switchedOff(): readonly string[] {
    return listServers(this.#given).filter((server) => this.#off.has(server));
  }

  /** The domains that its rules name; `.`: all names. */
  get domains(): readonly NameKey[] {
    const names = this.#plan.rules.flatMap((rule) => rule.names);
    return [...new Set(names.flatMap((match) => (match.kind === 'domain' ? match.name : [])))];
  }

  /** The servers that a name would be asked of, in the order of its rule, or the reason why there are none. Asks nothing. */
  serversFor(
    name: NameKey,
  ): ForwardFailure | { readonly kind: 'servers'; readonly upstreams: readonly UpstreamStatistics[] } {
    const route = this.#findRoute(name);
    if (route.kind === 'failed') return route;
    return { kind: 'servers', upstreams: route.upstreams.map((upstream) => upstream.statistics()) };
  }

  statistics(): ForwardStatistics {
    const groups = [...this.#routes.groups.values(), ...this.#retiredGroups];
    const admissions = groups.map(({ admission }) => admission.statistics());
    return {
      inFlight: admissions.reduce((sum, { running }) => sum + running, 0),
      queued: admissions.reduce((sum, { waiting }) => sum + waiting, 0),
      coalesced: this.#coalesced,
      refused: this.#refused,
      hedged: this.#extraQueries.hedge,
      retried: this.#extraQueries.retry,
      droppedRecords: this.#droppedRecords,
      upstreams: [...this.#routes.upstreams.values()].map((upstream) => upstream.statistics()),
    };
  }

  /**
   * The servers that other threads may ask for names that only the rule for all names matches, with their settings;
   * undefined: every question must use `resolve`.
   */
  directRoute(): DirectRoute<InflightQuery> | undefined {
    return this.#isStopped ? undefined : findDirectRoute(this.#plan, this.#routes, this.#clock.monotonic());
  }

  /** The longest time from the arrival of a query to its answer, in milliseconds. */
  get deadline(): number {
    return this.#plan.timing.deadline;
  }

  /** Whether the AD bit of the servers is trusted. */
  get trustsAd(): boolean {
    return this.#plan.trustsAd;
  }

  /** Whether questions carry EDNS options of clients. */
  get passesOptions(): boolean {
    return this.#plan.passesOptions;
  }

  /** Counts questions that another thread answered by the reply to an equal one. */
  noteCoalesced(questions: number): void {
    this.#coalesced += questions;
  }

  /** Stops: all questions in flight fail at once. */
  stop(): void {
    this.#isStopped = true;
    this.#probes.stop();
    this.#names.follow(new Set());
    for (const inflight of this.#inflightQueries.all()) {
      inflight.resolution?.stop();
      this.#complete(inflight, STOPPED);
    }
    for (const { admission } of [...this.#routes.groups.values(), ...this.#retiredGroups]) admission.stop();
    for (const upstream of [...this.#routes.upstreams.values(), ...this.#retired]) upstream.close();
    this.#retired.clear();
  }

  /** The servers to ask for a name, or the reason why there are no such servers. */
  #findRoute(name: NameKey): ServersRoute<InflightQuery> | ForwardFailure {
    if (this.#isStopped) return STOPPED;
    const route = this.#routes.rules.find(name);
    if (route === undefined) return failed('no-upstream', 'no server is configured for it');
    if (route.kind === 'local-only') return failed('local-only', 'its domain is answered locally');
    if (route.upstreams.length === 0) return failed('no-upstream', 'no server of its domain has an address');
    if (route.upstreams.every(({ state }) => state.kind === 'looping'))
      return failed('loop', route.upstreams.map(({ text }) => text).join(', '));
    return route;
  }

  /**
   * The same for a new question.
   *
   * While all servers are silent, questions do not queue: a place becomes free only by a time-out, and queued questions take memory.
   * Questions in flight then take at most half of the usual places. While all servers are down, one question tests them; all others
   * fail at once.
   */
  #admitTo(name: NameKey, { address }: AccountedClient): ServersRoute<InflightQuery> | ForwardFailure {
    const route = this.#findRoute(name);
    if (route.kind === 'failed') return route;
    if (!this.#hasRoom(route.group)) return OVERLOADED;
    if (isAllSilent(route)) {
      this.#events?.foundAllSilent();
      const { admission } = route.group;
      if (admission.size >= MAX_OF_SILENT) return OVERLOADED;
      // One may wait: it may come from a reader, which has not yet given its place back.
      if (admission.hasWaiting && !admission.mayRun(address)) return OVERLOADED;
    }
    const { failFast, health } = this.#plan;
    const isTested = route.group.isTested || health.kind === 'checks';
    if (!failFast || !isTested || !isAllDown(route)) return route;
    return failed('down', route.upstreams.map(({ text }) => text).join(', '));
  }

  /** All groups together are bounded too: a group may use at most the places left. */
  #hasRoom({ admission }: ServerGroup<InflightQuery>): boolean {
    const { inFlight, queued } = this.#plan.limits;
    return admission.size < FULL_GROUPS * (inFlight + queued) - this.#inflightQueries.size;
  }

  #admit(inflight: InflightQuery, client: AccountedClient): void {
    const { group } = inflight.route;
    if (isAllDown(inflight.route)) group.testWith(inflight);
    this.#inflightQueries.add(inflight);
    // A query of another thread is under way already: that thread gives its place back.
    const ticket = group.admission.enter(client.address, inflight, inflight.tried !== undefined);
    inflight.ticket = ticket;
    // It may have completed before its ticket was known.
    if (inflight.isCompleted) group.admission.leave(ticket);
  }

  #start(inflight: InflightQuery): void {
    // The plan may have changed while it waited.
    const isAsStarted = inflight.routes === this.#routes && !this.#isStopped;
    const route = isAsStarted ? inflight.route : this.#findRoute(inflight.question.name);
    if (route.kind === 'failed') {
      this.#complete(inflight, route);
      return;
    }
    inflight.startedAt = this.#clock.monotonic();
    const { budget } = route.group;
    budget.earn();
    const candidates = route.order.choose(route.upstreams, inflight.startedAt);
    // Readers wait for it where the fastest server is wanted.
    if (candidates.atOnce > 1 && this.#plan.policy === 'fastest') this.onRouteChange();
    const done = (outcome: QueryRunOutcome) => this.#complete(inflight, this.#present(inflight, outcome));
    const { question, arrivedAt } = inflight;
    inflight.resolution = new QueryRunner(
      question,
      candidates.upstreams,
      budget,
      this.#settings,
      done,
      arrivedAt,
    );
    const { resolution, tried } = inflight;
    if (tried === undefined || !resolution.takeOver(tried)) resolution.start(candidates);
  }

  #present({ question, startedAt }: InflightQuery, outcome: QueryRunOutcome): ForwardReply {
    if (outcome.kind === 'failed') {
      const detail = outcome.codes.length === 0 ? 'no reply' : outcome.codes.join('; ');
      return failed(outcome.reason, detail);
    }
    const milliseconds = this.#clock.monotonic() - startedAt;
    const upstream = outcome.upstream.text;
    const received = outcome.reply;
    const isKept = question.asReceived !== undefined;
    const rcode = toFullRcode(received);
    if (!isKept && rcode > MAX_PLAIN_RCODE) return failed('unusable', `${upstream}: ${rcodeName(rcode)}`);
    const whole = { message: received, dropped: 0, isLoop: false };
    const { message, dropped, isLoop } = isKept ? whole : scrubReply(question, received);
    this.#droppedRecords += dropped;
    // Clients would read the aliases without records as NODATA.
    if (isLoop) return failed('alias-loop', `${upstream}: the aliases in the reply form a loop`);
    // AD stays only if the server is trusted, and no record was dropped: it covers the whole reply.
    const authenticData = message.header.authenticData && this.#plan.trustsAd && dropped === 0;
    const header = { ...message.header, authenticData };
    return { kind: 'reply', message: { ...message, header }, upstream, milliseconds };
  }

  #complete(inflight: InflightQuery, reply: ForwardReply): void {
    if (!this.#inflightQueries.remove(inflight)) return;
    inflight.complete(reply);
    if (inflight.ticket !== undefined) inflight.route.group.admission.leave(inflight.ticket);
  }

  #createSettings(plan: ForwardPlan): QueryRunnerSettings {
    return {
      clock: this.#clock,
      timing: plan.timing,
      retry: plan.retry,
      hedging: plan.hedging && (plan.hedgesAlways || !isStrictlyOrdered(plan.policy)),
      failFast: plan.failFast && plan.health.kind === 'passive',
      isOrdered: isStrictlyOrdered(plan.policy),
      deadlines: new TimerQueue(this.#clock),
      udpSize: plan.udpSize,
      trustsAd: plan.trustsAd,
      tryNextOn: new Set(plan.tryNextOn),
      onExtraQuery: (purpose) => {
        this.#extraQueries[purpose] += 1;
      },
    };
  }

  /** Rebuilds the routes after a change of the plan or of a server's addresses. */
  #follow(): void {
    const { upstreams: before, groups } = this.#routes;
    this.#routes = this.#build(this.#routes);
    const now = this.#routes.upstreams;
    for (const [key, group] of groups) if (!this.#routes.groups.has(key)) this.#retiredGroups.add(group);
    for (const group of this.#retiredGroups) if (group.isIdle) this.#retiredGroups.delete(group);
    for (const [key, upstream] of before) if (!now.has(key)) this.#retire(upstream);
    const fresh = [...now].filter(([key]) => !before.has(key)).map(([, upstream]) => upstream);
    this.#probes.testForLoops(fresh);
    this.onRouteChange();
  }

  #retire(upstream: Upstream): void {
    this.#probes.remove(upstream);
    for (const other of this.#retired) if (other.statistics().inFlight === 0) this.#retired.delete(other);
    this.#retired.add(upstream);
    upstream.retire();
  }

  #build(before: Pick<Routes<InflightQuery>, 'upstreams' | 'groups'>): Routes<InflightQuery> {
    return buildRoutes(this.#plan, before, {
      open: (server, address, domain) => this.#openUpstream(server, address, domain),
      findAddresses: (name) => this.#names.findAddresses(name),
      openGroup: () => this.#openGroup(),
      random: this.#random,
    });
  }

  #openGroup(): ServerGroup<InflightQuery> {
    return new ServerGroup(this.#plan.limits, this.#clock, {
      run: (inflight) => this.#start(inflight),
      refuse: (inflight) => {
        this.#refused += 1;
        this.#complete(inflight, OVERLOADED);
      },
    });
  }

  #openUpstream(
    { address: server, queriesPerSecond }: UpstreamServer,
    address: string,
    domain: NameKey,
  ): Upstream {
    const text =
      server.host.kind === 'address' ? formatUpstream(server) : `${formatUpstream(server)} (${address})`;
    const { health } = this.#plan;
    const upstream = new Upstream({
      text,
      transport: this.#connect(server, address, this.#plan, this.#clock),
      queriesPerSecond,
      timing: this.#plan.timing,
      health,
      clock: this.#clock,
      onCheckFailed: () => this.#events?.probeFailed(text),
      onEdnsChange: () => this.onRouteChange(),
      onDirectChange: () => this.onRouteChange(),
      onChange: (changed, from) => {
        if (health.kind === 'passive') this.#probes.changed(changed, from);
        this.onRouteChange();
      },
    });
    if (health.kind === 'passive') this.#probes.add(upstream, domain);
    return upstream;
  }
}

/** This many groups of servers may reach their maximum at the same time. */
const FULL_GROUPS = 4;
/** Questions under way to servers that are all silent. */
const MAX_OF_SILENT = 750;
