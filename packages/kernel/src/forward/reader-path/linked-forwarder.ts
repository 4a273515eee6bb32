/**
 * Connects one `Forwarder` with the readers: the routes to its servers, and the counts of the readers' work.
 */
import { isDeepStrictEqual } from 'node:util';
import { encodeName } from '@portolan/dns/name.ts';
import type { NameKey, WireName } from '@portolan/dns/types.ts';
import type { ViewId } from '../../table/types.ts';
import type { OtherThreads } from '../admission/admission.ts';
import type { AnswerForm } from '../caching/answer-form.ts';
import type { DirectRoute } from '../direct-route.ts';
import type { ForwardPlan } from '../forward-plan.ts';
import type { Forwarder } from '../forwarder.ts';
import type { GroupQuestion } from '../server-group.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { FillConsumer } from './fill-ring.ts';
import type { OpenRoute, RouteOutcomes, RouteServer } from './reader-policy.ts';
import type { CountGrowth, GroupCounts, SharedWords } from './shared-words.ts';

/** The owner of a view's open questions: their replies belong to it. */
export interface ForwardedRoute {
  /** The settings of the route; undefined: readers forward nothing. May change at run time; then call `update`. */
  terms(): RouteTerms | undefined;
  /** Readers have answered clients. @param coalesced those of them who share the query of an equal question */
  told(clients: number, coalesced: number): void;
  /** A reader has received a reply and sent it to clients. */
  observe(reply: FillConsumer, upstream: Upstream | undefined): void;
  /**
   * Adds a reply to the cache.
   *
   * @param isEncoded whether the reader's entry may be stored unchanged
   */
  keep(reply: FillConsumer, isEncoded: boolean): void;
}

export interface RouteTerms {
  /** Names that others answer, with all names below them. */
  readonly exceptions: readonly NameKey[];
  /** Names with fewer labels are answered by others. */
  readonly minLabels: number;
  /** Whether there are no local names, so that a denial from upstream is true. */
  readonly believesDenials: boolean;
  /** Whether to serve an expired answer while a new one is fetched. */
  readonly servesStaleAtOnce: boolean;
  readonly form: AnswerForm;
  /** A view with the cache for answers; undefined: the owner makes the entries. */
  readonly cacheView: ViewId | undefined;
  readonly outcomes: RouteOutcomes;
}

/** All routes of the process: `ReaderPath` implements it. */
export interface AllRoutes {
  readonly words: SharedWords;
  addRoute(route: ForwardedRoute, owner: LinkedForwarder): number;
  removeRoute(number: number): void;
  /** The number of a server, constant while its forwarder may ask it; undefined: readers know too many servers. */
  assignServerNumber(upstream: Upstream, owner: LinkedForwarder): number | undefined;
  /** Adds the readers' counts since the last call. */
  fold(link: LinkedForwarder): void;
  /** Posts the currently open routes. Call it when they have changed. */
  publish(): void;
  unlink(link: LinkedForwarder): void;
}

export class LinkedForwarder implements OtherThreads {
  readonly forwarder: Forwarder;
  /** The number by which its queries are counted. */
  readonly group: number;
  /** What readers count for it. @internal for `AllRoutes` */
  readonly counts: CountGrowth<keyof GroupCounts>;
  #sentByReaders = 0;
  readonly #path: AllRoutes;
  readonly #routes = new Map<number, ForwardedRoute>();
  #direct: DirectRoute<GroupQuestion> | undefined;
  #openRoutes: readonly OpenRoute[] = [];

  constructor(forwarder: Forwarder, group: number, path: AllRoutes) {
    this.forwarder = forwarder;
    this.group = group;
    this.#path = path;
    this.counts = path.words.followGroupCounts(group);
    forwarder.onRouteChange = () => this.update();
  }

  /** Opens a route, if its terms allow it. @returns its number, for views */
  open(route: ForwardedRoute): number {
    const number = this.#path.addRoute(route, this);
    this.#routes.set(number, route);
    this.update();
    return number;
  }

  /** Call it once the route is in no view any more. */
  close(number: number): void {
    if (!this.#routes.delete(number)) return;
    this.#path.removeRoute(number);
    this.update();
  }

  /** Closes all routes. */
  stop(): void {
    for (const number of this.#routes.keys()) this.#path.removeRoute(number);
    this.#routes.clear();
    this.update();
    this.forwarder.onRouteChange = () => {};
    this.#path.unlink(this);
  }

  /** Call it when the terms of a route may have changed. */
  update(): void {
    const direct = this.#routes.size === 0 ? undefined : this.forwarder.directRoute();
    if (direct?.group !== this.#direct?.group) {
      this.#path.fold(this);
      this.#direct?.group.admission.countOthers(undefined);
      direct?.group.admission.countOthers(this);
    }
    // Queries in flight to removed servers are not counted any more, so they must not keep the servers alive.
    for (const { upstream } of this.#direct?.servers ?? []) upstream.inFlightElsewhere = 0;
    this.#direct = direct;
    const before = this.#openRoutes;
    const routes =
      direct === undefined ? [] : [...this.#routes].flatMap((each) => this.#open(direct, ...each));
    const hasChanged = !isDeepStrictEqual(routes, before);
    if (hasChanged) this.#openRoutes = routes;
    this.#publishTimeouts();
    if (hasChanged) this.#path.publish();
  }

  /** The routes that readers may use now. @internal for `AllRoutes` */
  get openRoutes(): readonly OpenRoute[] {
    return this.#openRoutes;
  }

  #open(
    { servers, selection, plan, exceptions }: DirectRoute<GroupQuestion>,
    number: number,
    route: ForwardedRoute,
  ): readonly OpenRoute[] {
    const terms = route.terms();
    if (terms === undefined) return [];
    const numbered = this.#number(servers);
    if (numbered === undefined) return [];
    const { inFlight } = plan.limits;
    return [
      {
        ...terms,
        number,
        group: this.group,
        servers: numbered,
        selection,
        udpSize: plan.udpSize,
        trustsAd: plan.trustsAd,
        passesOptions: plan.passesOptions,
        // Above this, the share of each client matters, which only `Admission` knows.
        limit: inFlight - (inFlight >> 2),
        deadline: plan.timing.deadline,
        exceptions: [...exceptions, ...terms.exceptions].map((name): WireName => encodeName(name)),
      },
    ];
  }

  /** @returns undefined if readers know too many servers */
  #number(servers: DirectRoute<GroupQuestion>['servers']): readonly RouteServer[] | undefined {
    const numbered = servers.flatMap(({ upstream, peer, stream, usesEdns }) => {
      const number = this.#path.assignServerNumber(upstream, this);
      return number === undefined ? [] : [{ number, peer, stream, usesEdns }];
    });
    return numbered.length === servers.length ? numbered : undefined;
  }

  #publishTimeouts(): void {
    if (this.#openRoutes.length === 0) return;
    for (const { upstream } of this.#direct?.servers ?? []) {
      const number = this.#path.assignServerNumber(upstream, this);
      if (number !== undefined)
        this.#path.words.setServerTimeout(number, timeoutForReaders(upstream, this.#direct));
    }
  }

  /** Accounts for the readers' work since the last call. @internal for `AllRoutes` */
  note(sent: number, told: GroupCounts | undefined): void {
    this.#sentByReaders += sent;
    if (told !== undefined) {
      this.forwarder.noteCoalesced(told.coalesced);
      // All routes of one forwarder count the same way.
      const [route] = this.#routes.values();
      route?.told(told.told, told.coalesced);
    }
    const { servers = [], group, plan } = this.#direct ?? {};
    // The fastest server may be another one by now.
    if (sent > 0 && plan?.policy === 'fastest' && this.forwarder.directRoute() === undefined) this.update();
    group?.budget.earn(sent);
    for (const { upstream } of servers) upstream.inFlightElsewhere = 0;
    const [first] = servers;
    if (first !== undefined) first.upstream.inFlightElsewhere = this.running;
  }

  /** Starts questions that waited for places used by readers. @returns whether some still wait @internal for `AllRoutes` */
  resume(): boolean {
    this.#publishTimeouts();
    this.#direct?.group.admission.resume();
    return this.#direct?.group.admission.hasWaiting === true;
  }

  /** Queries sent by the main thread. */
  get sentByMain(): number {
    const { upstreams } = this.forwarder.statistics();
    return Math.max(0, upstreams.reduce((sum, { sent }) => sum + sent, 0) - this.#sentByReaders);
  }

  get running(): number {
    return this.#path.words.readersRunning(this.group);
  }

  countRunning(client: string): number {
    const { words } = this.#path;
    return words.countRunning(words.findGroup(client));
  }

  publish(running: number): void {
    this.#path.words.setMainRunning(this.group, running);
  }
}

/**
 * Milliseconds after which readers hand a question over. With other servers besides it, a server has no back-off there: the main thread
 * decides when to ask them. If nothing was heard of it yet, it has the question before it is overdue.
 */
function timeoutForReaders(
  upstream: Upstream,
  direct: Pick<DirectRoute<GroupQuestion>, 'plan' | 'hasOthers'> | undefined,
): number {
  const { roundTrip } = upstream;
  const hasOthers = direct?.hasOthers === true;
  const isUnknown = hasOthers && roundTrip.smoothed === undefined;
  if (isUnknown || hedgesForReaders(direct?.plan)) return roundTrip.hedgeDelay();
  if (!hasOthers) return upstream.firstTimeout();
  return Math.min(roundTrip.usualTimeout(), roundTrip.failoverDelay(direct.plan.timing.failover));
}

/** Whether readers hand questions over as soon as a second server is to be asked. */
function hedgesForReaders(plan: ForwardPlan | undefined): boolean {
  return plan !== undefined && (plan.hedgesAlways || (plan.hedging && plan.policy === 'fastest'));
}
