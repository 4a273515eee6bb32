/**
 * A route at work: the names that it is for, and the servers behind it.
 *
 * Servers outlive plans, with all their state: the same route of the next plan takes over the `Forwarder`.
 */
import { isWithin } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { OpenQuestion } from '@portolan/kernel/chain/dry-run.ts';
import type { ReplyChanges } from '@portolan/kernel/chain/handler.ts';
import { isWithinAny } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import type { DirectServers } from '@portolan/kernel/chain/reader-forwarding.ts';
import { RefCounted } from '@portolan/kernel/contract/ref-counted.ts';
import { type Connect, connectBySockets } from '@portolan/kernel/forward/connect.ts';
import type { ForwardPlan } from '@portolan/kernel/forward/forward-plan.ts';
import { failed } from '@portolan/kernel/forward/forward-reply.ts';
import type { ForwardTally } from '@portolan/kernel/forward/forward-tally.ts';
import { Forwarder, type ForwardQuestion, type ForwardReply } from '@portolan/kernel/forward/forwarder.ts';
import type { ResolveName } from '@portolan/kernel/forward/named-servers.ts';
import type { FillConsumer } from '@portolan/kernel/forward/reader-path/fill-ring.ts';
import type { LinkedForwarder } from '@portolan/kernel/forward/reader-path/linked-forwarder.ts';
import type { ReaderPath } from '@portolan/kernel/forward/reader-path/reader-path.ts';
import type { Transport } from '@portolan/kernel/forward/transport/transport.ts';
import type { Upstream } from '@portolan/kernel/forward/upstream/upstream.ts';
import { formatUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import type { NativeCache } from '../cache/native-cache.ts';
import { countForwarding, type ForwardMetrics } from './forward-metrics.ts';
import { NativeReplies } from './native-replies.ts';
import { openServer, type TapServer } from './open-upstreams.ts';
import type { ForwardRoute } from './options.ts';
import type { RouteReplies } from './route-replies.ts';
import {
  type FindRouteServersOptions,
  findRouteServers,
  listRouteServers,
  type RouteServers,
} from './route-servers.ts';
import { SentReplies } from './sent-replies.ts';

export interface RouteDependencies extends FindRouteServersOptions {
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
  readonly readerPath: ReaderPath;
  /** Counts replies and failures. */
  readonly forwardTally: ForwardTally;
  /** The cache before it, if its rules are our own. */
  readonly cache?: NativeCache | undefined;
  /** What other handlers of the block do to replies that we change; undefined: nothing. */
  readonly replies?: () => ReplyChanges | undefined;
  /** Resolves servers of plans that are given by name, through our own chain. */
  readonly resolveName: ResolveName;
  /** How servers of plans are reached. Default: by sockets. */
  readonly connect?: Connect | undefined;
  /** Shows what goes to servers. Default: nothing does. */
  readonly tap?: TapServer | undefined;
  /** From 0 to below 1, for choices that need not be secret. */
  readonly random?: () => number;
}

/** The servers of a route, with all their state. They outlive plans. */
interface LastingServers {
  readonly forwarder: Forwarder;
  /** Undefined: they are not counted by server. */
  readonly counts: ForwardMetrics | undefined;
  /** That of the current plan. */
  route: ServingRoute;
  /** Undefined: readers have not asked by themselves, or there are too many forwarders. */
  link: LinkedForwarder | undefined;
}

export class ServingRoute {
  readonly scope: ForwardRoute;
  readonly #replies: RouteReplies;
  readonly #dependencies: RouteDependencies;
  readonly #except: ReadonlySet<NameKey>;
  /** Undefined until they are found. */
  #servers: RouteServers | undefined;
  #lasting: RefCounted<LastingServers> | undefined;

  /** @param former the same route of the former plan */
  constructor(scope: ForwardRoute, dependencies: RouteDependencies, former: ServingRoute | undefined) {
    this.scope = scope;
    this.#replies = makeReplies(scope, dependencies);
    this.#dependencies = dependencies;
    this.#except = new Set(scope.except);
    if (former !== undefined) this.#takeOver(former);
  }

  #takeOver(former: ServingRoute): void {
    if (former.#keepsServers && this.#keepsServers) this.#lasting = former.#lasting?.retain();
  }

  /** A plan whose servers are known is in force when this returns. @throws UpstreamError */
  async start(): Promise<void> {
    const servers = findRouteServers(this.scope, this.#dependencies);
    this.#open(servers instanceof Promise ? await servers : servers);
  }

  #open(servers: RouteServers): void {
    this.#servers = servers;
    this.#lasting ??= openServers(servers.plan, this, this.#dependencies).retain();
    const { value } = this.#lasting;
    if (value.route === this) this.#begin(value, servers);
  }

  #begin({ forwarder, counts }: LastingServers, { places }: RouteServers): void {
    this.#replies.begin({ forwarder, counts, places });
  }

  /** From now on, its servers are asked by this plan. Queries in flight end as they began. */
  follow(): void {
    const lasting = this.#lasting?.value;
    if (lasting === undefined || this.#servers === undefined || lasting.route === this) return;
    const before = lasting.route;
    lasting.route = this;
    this.#begin(lasting, this.#servers);
    this.#replies.follow?.(before.#replies);
    lasting.forwarder.change(this.#servers.plan);
    lasting.link?.update();
    // Until now readers have asked by the former plan.
    this.#dependencies.readerPath.noteGeneration();
  }

  /** Call it when the terms of readers may have changed. */
  update(): void {
    this.#lasting?.value.link?.update();
  }

  get forwarder(): Forwarder | undefined {
    return this.#lasting?.value.forwarder;
  }

  includes(name: NameKey): boolean {
    const { from } = this.scope;
    return isWithin(name, from) && (name === from || !isWithinAny(name, this.#except));
  }

  async answer(query: Query): Promise<Answer> {
    const { forwarder } = this;
    if (forwarder === undefined) return { kind: 'servfail' };
    const question = this.#replies.toForwardQuestion(query);
    const asking = query.span?.startChild('connect');
    const found = await forwarder.resolve(question, { address: query.account });
    if (found.kind !== 'failed') asking?.setTag('peer.address', found.upstream);
    asking?.end();
    const reply = withRecordsOverTcp(query, question, found);
    const { forwardTally } = this.#dependencies;
    if (reply.kind === 'failed') forwardTally.noteFailure(reply.reason);
    else forwardTally.observe(reply.milliseconds);
    return await this.#replies.toAnswer(query, question, reply);
  }

  /** The servers that a name would be asked of, and the answer of a look. */
  look(name: NameKey): { readonly open: OpenQuestion; readonly answer: Answer } {
    const { forwarder } = this;
    if (forwarder === undefined) {
      const open = { name, servers: listRouteServers(this.scope), problem: undefined };
      return { open, answer: this.#replies.answerLook(undefined) };
    }
    const found = forwarder.serversFor(name);
    const failure = found.kind === 'failed' ? found : undefined;
    return { open: findOpenQuestion(name, found), answer: this.#replies.answerLook(failure) };
  }

  /** How readers may ask its servers; undefined: they may not. */
  get direct(): Omit<DirectServers, 'exceptions'> | undefined {
    const servers = this.#lasting?.value;
    if (servers === undefined) return undefined;
    servers.link ??= this.#dependencies.readerPath.link(servers.forwarder);
    if (servers.link === undefined) return undefined;
    return {
      ...this.#replies.direct,
      link: servers.link,
      observe: (reply, upstream) => this.#observe(reply, upstream),
    };
  }

  /** Opens the transport to a server. @param onSwitch called when it is asked over another protocol from now on */
  connect(
    { counts }: Pick<LastingServers, 'counts'>,
    onSwitch: () => void,
    ...server: Parameters<Connect>
  ): Transport {
    const { clock, log, tap, connect = connectBySockets } = this.#dependencies;
    if (this.scope.sources === undefined) return connect(...server);
    const text = formatUpstream(server[0]);
    const found = this.#servers?.places.get(text);
    if (found === undefined || counts === undefined) throw new RangeError(`no transport to ${text}`);
    return openServer(
      { place: found.place, route: this.scope, counts, tap, clock, log, onSwitch },
      ...server,
    );
  }

  /** A server's name in metrics. @param server as `Forwarder` knows it */
  toMetricLabel(server: string): string {
    return this.#servers?.places.get(server)?.label ?? server;
  }

  resolveName(...name: Parameters<ResolveName>): ReturnType<ResolveName> {
    return this.#dependencies.resolveName(...name);
  }

  async stop(): Promise<void> {
    await this.#lasting?.release();
  }

  /** Whether the servers of the former plan's route may be kept, with their connections and their state. */
  get #keepsServers(): boolean {
    const { restored, tap } = this.#dependencies;
    // What a tap shows belongs to the plan.
    const keepsState = !restored.has('reload-keeps-state') && tap === undefined;
    return this.scope.sources === undefined || keepsState;
  }

  /** Counts a reply that a reader has taken. */
  #observe({ rcode, microseconds, clients }: FillConsumer, upstream: Upstream | undefined): void {
    const counts = this.#lasting?.value.counts;
    if (upstream === undefined && this.scope.sources !== undefined) return;
    const milliseconds = microseconds / 1000;
    const { forwardTally } = this.#dependencies;
    for (let client = 0; client < clients; client += 1) forwardTally.observe(milliseconds);
    if (upstream === undefined || counts === undefined) return;
    const { label = upstream.text, protocol = 'udp' } = this.#servers?.places.get(upstream.text) ?? {};
    counts.asked(label, protocol, false);
    counts.replied(label, rcode, milliseconds);
  }
}

function makeReplies(
  { plan, replies: form }: ForwardRoute,
  { restored, cache, replies = () => undefined, clock, log }: RouteDependencies,
): RouteReplies {
  if (form.kind === 'as-sent') return new SentReplies(form, restored);
  if (cache === undefined) throw new TypeError('a plan without a cache before it');
  return new NativeReplies({
    rules: plan.rules,
    filteredTypes: form.filteredTypes,
    cache,
    replies,
    clock,
    log,
  });
}

/**
 * TC without records tells a client to ask over TCP. To one that does, it looks like a name without records. With `-compat` what a server
 * sends over TCP is passed on.
 */
function withRecordsOverTcp(
  query: Query,
  { asReceived }: ForwardQuestion,
  reply: ForwardReply,
): ForwardReply {
  if (reply.kind === 'failed' || !reply.message.header.truncated || reply.message.answers.length > 0)
    return reply;
  if (query.sender.transport === 'udp' || asReceived?.passedOnBy === 'only-tcp') return reply;
  return failed('truncated', `${reply.upstream}: truncated reply, and none over TCP`);
}

function openServers(plan: ForwardPlan, route: ServingRoute, dependencies: RouteDependencies) {
  const { clock, log, random, metrics, forwardTally } = dependencies;
  const counts = route.scope.sources === undefined ? undefined : countForwarding(metrics);
  const current = { route };
  const onSwitch = () => forwarder.onRouteChange();
  const forwarder = new Forwarder(plan, {
    clock,
    log,
    ...(random && { random }),
    resolveName: (name) => current.route.resolveName(name),
    connect: (...server) => current.route.connect({ counts }, onSwitch, ...server),
    events: {
      probeFailed: (server) => counts?.checkFailed(current.route.toMetricLabel(server)),
      foundAllSilent: () => counts?.allDown(),
    },
  });
  forwardTally.follow(forwarder);
  const servers: LastingServers = Object.assign(current, { forwarder, counts, link: undefined });
  return new RefCounted(servers, ({ link }) => {
    forwardTally.leave(forwarder);
    forwarder.stop();
    link?.stop();
    counts?.stop();
  });
}

/** @param found the servers that a forwarder would ask */
function findOpenQuestion(name: NameKey, found: ReturnType<Forwarder['serversFor']>): OpenQuestion {
  if (found.kind === 'failed') return { name, servers: [], problem: found.detail };
  return { name, servers: found.upstreams.map(({ upstream }) => upstream), problem: undefined };
}
