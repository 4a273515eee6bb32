/**
 * What readers do for one `Forwarder`: the routes that lead to its servers, and what of their work the forwarder must know.
 */
import { encodeSocketAddress } from '../../socket/addresses.ts';
import { ENVELOPE } from '../../socket/envelope.ts';
import type { ViewId } from '../../table/types.ts';
import { encodeName } from '../../wire/name.ts';
import type { NameKey, WireName } from '../../wire/types.ts';
import type { OtherThreads } from '../admission/admission.ts';
import type { AnswerForm } from '../caching/answer-form.ts';
import type { DirectRoute } from '../direct-route.ts';
import type { Forwarder } from '../forwarder.ts';
import type { GroupQuestion } from '../server-group.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { FillConsumer } from './fill-ring.ts';
import type { OpenRoute, RouteOutcomes } from './reader-policy.ts';
import type { GroupCounts, SharedWords } from './shared-words.ts';

/** Who has the questions forwarded that a view leaves open: their replies belong to it. */
export interface ForwardedRoute {
  /** What readers do beside asking; undefined: they forward nothing. May change: then `update` is to be called. */
  terms(): RouteTerms | undefined;
  /** Clients were answered by readers. @param coalesced those of them whose question an equal one was sent for */
  told(clients: number, coalesced: number): void;
  /** A reply has come to a reader, which clients were told. */
  observe(reply: FillConsumer, upstream: Upstream | undefined): void;
  /**
   * Takes a reply into the cache.
   *
   * @param isEncoded whether its entry may be stored as the reader has made it
   */
  keep(reply: FillConsumer, isEncoded: boolean): void;
}

export interface RouteTerms {
  /** Names with all below them that others answer. */
  readonly exceptions: readonly NameKey[];
  /** Whether no name is known here, so that a denial from upstream is true. */
  readonly believesDenials: boolean;
  /** Whether an expired answer is served before a new one has come. */
  readonly servesStaleAtOnce: boolean;
  readonly form: AnswerForm;
  /** A view with the cache that answers are kept in; undefined: the owner makes the entries. */
  readonly cacheView: ViewId | undefined;
  readonly outcomes: RouteOutcomes;
}

/** All routes of the process: `ReaderPath` is. */
export interface AllRoutes {
  readonly words: SharedWords;
  addRoute(route: ForwardedRoute, owner: LinkedForwarder): number;
  removeRoute(number: number): void;
  numberOf(upstream: Upstream, owner: LinkedForwarder): number;
  /** What has been counted for a group until now. */
  countedOf(group: number): Float64Array;
  /** Adds what readers have counted since the last time. */
  fold(link: LinkedForwarder): void;
  /** Posts the routes that are open now, if they are others than before. */
  publish(): void;
  unlink(link: LinkedForwarder): void;
}

export class LinkedForwarder implements OtherThreads {
  readonly forwarder: Forwarder;
  /** The number that its queries are counted by. */
  readonly group: number;
  /** What readers have counted until the last time. @internal for `AllRoutes` */
  readonly counted: Float64Array;
  #sentByReaders = 0;
  readonly #path: AllRoutes;
  readonly #routes = new Map<number, ForwardedRoute>();
  readonly #envelope = new Uint8Array(ENVELOPE.OCTETS);
  #direct: DirectRoute<GroupQuestion> | undefined;
  #openRoutes: readonly OpenRoute[] = [];

  constructor(forwarder: Forwarder, group: number, path: AllRoutes) {
    this.forwarder = forwarder;
    this.group = group;
    this.#path = path;
    this.counted = path.countedOf(group);
    forwarder.onRouteChange = () => this.update();
  }

  /** Opens a route, as far as its terms allow. @returns its number, for views */
  open(route: ForwardedRoute): number {
    const number = this.#path.addRoute(route, this);
    this.#routes.set(number, route);
    this.update();
    return number;
  }

  /** To be called once no view names the route. */
  close(number: number): void {
    if (!this.#routes.delete(number)) return;
    this.#path.removeRoute(number);
    this.update();
  }

  /** Closes all routes. */
  stop(): void {
    this.#routes.clear();
    this.update();
    this.forwarder.onRouteChange = () => {};
    this.#path.unlink(this);
  }

  /** To be called when the terms of a route may have changed. */
  update(): void {
    const direct = this.#routes.size === 0 ? undefined : this.forwarder.directRoute();
    if (direct?.group !== this.#direct?.group) {
      this.#path.fold(this);
      this.#direct?.group.admission.countOthers(undefined);
      direct?.group.admission.countOthers(this);
    }
    // What is under way at those that leave is not counted any more: they are not to be kept for it.
    for (const { upstream } of this.#direct?.servers ?? []) upstream.inFlightElsewhere = 0;
    this.#direct = direct;
    this.#openRoutes =
      direct === undefined ? [] : [...this.#routes].flatMap((each) => this.#open(direct, ...each));
    this.#publishTimeouts();
    this.#path.publish();
  }

  /** What readers may forward now. @internal for `AllRoutes` */
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
    const { inFlight } = plan.limits;
    return [
      {
        ...terms,
        number,
        group: this.group,
        servers: servers.map(({ upstream, peer, stream }) => ({
          ...{ number: this.#path.numberOf(upstream, this), peer, stream },
        })),
        selection,
        udpSize: plan.udpSize,
        trustsAd: plan.trustsAd,
        // Beyond, who has how many counts; `Admission` knows.
        limit: inFlight - (inFlight >> 2),
        deadline: plan.timing.deadline,
        exceptions: [...exceptions, ...terms.exceptions].map((name): WireName => encodeName(name)),
      },
    ];
  }

  #publishTimeouts(): void {
    if (this.#openRoutes.length === 0) return;
    for (const { upstream } of this.#direct?.servers ?? [])
      this.#path.words.setTimeoutOf(this.#path.numberOf(upstream, this), upstream.roundTrip.timeout());
  }

  /** Takes note of what readers have done since the last time. @internal for `AllRoutes` */
  note(sent: number, told: GroupCounts | undefined): void {
    this.#sentByReaders += sent;
    if (told !== undefined) {
      this.forwarder.noteCoalesced(told.coalesced);
      // Routes of one forwarder count alike.
      const [route] = this.#routes.values();
      route?.told(told.told, told.coalesced);
    }
    const { servers = [], group } = this.#direct ?? {};
    group?.budget.earn(sent);
    for (const { upstream } of servers) upstream.inFlightElsewhere = 0;
    const [first] = servers;
    if (first !== undefined) first.upstream.inFlightElsewhere = this.running;
  }

  /** Lets questions start that wait for those of readers. @returns whether some wait on @internal for `AllRoutes` */
  resume(): boolean {
    this.#publishTimeouts();
    this.#direct?.group.admission.resume();
    return this.#direct?.group.admission.hasWaiting === true;
  }

  /** Queries that the main thread has sent. */
  get sentByMain(): number {
    const { upstreams } = this.forwarder.statistics();
    return Math.max(0, upstreams.reduce((sum, { sent }) => sum + sent, 0) - this.#sentByReaders);
  }

  get running(): number {
    return this.#path.words.readersRunning(this.group);
  }

  runningOf(client: string): number {
    const envelope = this.#envelope;
    const address = encodeSocketAddress({ address: client, port: 0 });
    envelope.set(address);
    envelope[ENVELOPE.NAME_LENGTH] = address.length;
    const { words } = this.#path;
    return words.runningOf(words.groupOf(envelope, 0));
  }

  publish(running: number): void {
    this.#path.words.setMainRunning(this.group, running);
  }
}
