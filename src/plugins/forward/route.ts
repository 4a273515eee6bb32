/**
 * A route at work: the names that it is for, and the servers behind it.
 *
 * Servers outlive plans, with all their state: the same route of the next plan takes over the `Forwarder`.
 */
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { MetricRegistry } from '../../base/metrics/registry.ts';
import type { Answer } from '../../chain/answer.ts';
import type { OpenQuestion } from '../../chain/look.ts';
import { isWithinAny } from '../../chain/match.ts';
import type { Query } from '../../chain/query.ts';
import type { DirectServers } from '../../chain/reader-forwarding.ts';
import { Lasting } from '../../contract/lasting.ts';
import type { Connect } from '../../forward/connect.ts';
import type { ForwardPlan } from '../../forward/forward-plan.ts';
import { type ForwardFailure, failed } from '../../forward/forward-reply.ts';
import type { ForwardTally } from '../../forward/forward-tally.ts';
import { Forwarder, type ForwardQuestion, type ForwardReply } from '../../forward/forwarder.ts';
import type { ResolveName } from '../../forward/named-servers.ts';
import type { LinkedForwarder } from '../../forward/reader-path/linked-forwarder.ts';
import type { ReaderPath } from '../../forward/reader-path/reader-path.ts';
import type { Transport } from '../../forward/transport/transport.ts';
import { isWithin } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import { countForwarding, type ForwardMetrics } from './forward-metrics.ts';
import type { ForwardRoute } from './options.ts';

/** What a transport belongs to. */
export interface ConnectEvents {
  readonly counts: ForwardMetrics | undefined;
  /** A server is asked over another protocol from now on. */
  onSwitch(): void;
}

/** How a route finds its servers, asks them, and makes answers of their replies. */
export interface RouteMethods {
  /** Whether the servers of the former plan's route may be kept, with their connections and their state. */
  readonly keepsServers: boolean;
  /** Whether queries are counted by server, in CoreDNS's metrics. */
  readonly countsByServer: boolean;
  /** @throws UpstreamError if a server has no address */
  findPlan(): ForwardPlan | Promise<ForwardPlan>;
  /** Opens the transport to a server. */
  connect(events: ConnectEvents, ...server: Parameters<Connect>): Transport;
  readonly resolveName: ResolveName;
  /** A server's name in metrics. @param server as `Forwarder` knows it */
  labelOf(server: string): string;
  questionOf(query: Query): ForwardQuestion;
  answerOf(query: Query, question: ForwardQuestion, reply: ForwardReply): Answer | Promise<Answer>;
  /** The answer of a look. @param found why no server would be asked; undefined: one would */
  answerLook(found: ForwardFailure | undefined): Answer;
  /** The servers of a look before they are found. */
  listServers(): readonly string[];
  /** How readers take part. */
  readonly direct: Omit<DirectServers, 'link' | 'exceptions'>;
  /** Its servers serve this plan from now on. */
  begin(servers: RouteServers): void;
  /** The plan of its servers is about to change. @param before that of the former plan */
  leave?(before: RouteMethods): void;
}

/** The servers of a route. They outlive plans. */
export interface RouteServers {
  readonly forwarder: Forwarder;
  /** Undefined: they are not counted by server. */
  readonly counts: ForwardMetrics | undefined;
  /** Those of the current plan. */
  methods: RouteMethods;
  /** Undefined: readers have not asked by themselves, or there are too many forwarders. */
  link: LinkedForwarder | undefined;
}

export interface RouteDependencies {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MetricRegistry;
  readonly readerPath: ReaderPath;
  readonly forwardTally: ForwardTally;
  /** From 0 to below 1, for choices that need not be secret. */
  readonly random?: () => number;
}

export class ServingRoute {
  readonly scope: ForwardRoute;
  readonly methods: RouteMethods;
  readonly #dependencies: RouteDependencies;
  readonly #except: ReadonlySet<NameKey>;
  #plan: ForwardPlan | undefined;
  /** Undefined until they are found. */
  #lasting: Lasting<RouteServers> | undefined;

  /** @param former the same route of the former plan */
  constructor(
    scope: ForwardRoute,
    methods: RouteMethods,
    dependencies: RouteDependencies,
    former: ServingRoute | undefined,
  ) {
    this.scope = scope;
    this.methods = methods;
    this.#dependencies = dependencies;
    this.#except = new Set(scope.except);
    if (former?.methods.keepsServers === true && methods.keepsServers)
      this.#lasting = former.#lasting?.retain();
  }

  /** A plan whose servers are known is in force when this returns. @throws UpstreamError */
  async start(): Promise<void> {
    const plan = this.methods.findPlan();
    this.#open(plan instanceof Promise ? await plan : plan);
  }

  #open(plan: ForwardPlan): void {
    this.#plan = plan;
    this.#lasting ??= openServers(plan, this.methods, this.#dependencies).retain();
    const { value } = this.#lasting;
    if (value.methods === this.methods) this.methods.begin(value);
  }

  /** From now on, its servers are asked by this plan. Queries in flight end as they began. */
  follow(): void {
    const servers = this.#lasting?.value;
    if (servers === undefined || this.#plan === undefined || servers.methods === this.methods) return;
    const before = servers.methods;
    servers.methods = this.methods;
    this.methods.begin(servers);
    this.methods.leave?.(before);
    servers.forwarder.change(this.#plan);
    servers.link?.update();
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
    const question = this.methods.questionOf(query);
    const reply = await forwarder.resolve(question, { address: query.account });
    return await this.methods.answerOf(query, question, withRecordsOverTcp(query, question, reply));
  }

  /** The servers that a name would be asked of, and the answer of a look. */
  look(name: NameKey): { readonly open: OpenQuestion; readonly answer: Answer } {
    const { forwarder, methods } = this;
    if (forwarder === undefined) {
      const open = { name, servers: methods.listServers(), problem: undefined };
      return { open, answer: methods.answerLook(undefined) };
    }
    const found = forwarder.serversFor(name);
    const failure = found.kind === 'failed' ? found : undefined;
    return { open: findOpenQuestion(name, found), answer: methods.answerLook(failure) };
  }

  /** How readers may ask its servers; undefined: they may not. */
  get direct(): Omit<DirectServers, 'exceptions'> | undefined {
    const servers = this.#lasting?.value;
    if (servers === undefined) return undefined;
    servers.link ??= this.#dependencies.readerPath.link(servers.forwarder);
    return servers.link && { ...this.methods.direct, link: servers.link };
  }

  async stop(): Promise<void> {
    await this.#lasting?.release();
  }
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

function openServers(plan: ForwardPlan, methods: RouteMethods, dependencies: RouteDependencies) {
  const { clock, log, random, metrics, forwardTally } = dependencies;
  const counts = methods.countsByServer ? countForwarding(metrics) : undefined;
  const current = { methods };
  const onSwitch = () => forwarder.onRouteChange();
  const forwarder = new Forwarder(plan, {
    ...{ clock, log },
    ...(random && { random }),
    resolveName: (name) => current.methods.resolveName(name),
    connect: (...server) => current.methods.connect({ counts, onSwitch }, ...server),
    events: {
      probeFailed: (server) => counts?.checkFailed(current.methods.labelOf(server)),
      foundAllSilent: () => counts?.allDown(),
    },
  });
  forwardTally.follow(forwarder);
  const servers: RouteServers = Object.assign(current, { forwarder, counts, link: undefined });
  return new Lasting(servers, ({ link }) => {
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
