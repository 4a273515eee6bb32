/**
 * Asks the servers of its routes, by `Forwarder`, for all front ends.
 */
import { isWithin } from '@portolan/dns/name.ts';
import { type NameKey, type Question, RCODE } from '@portolan/dns/types.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler, Next } from '@portolan/kernel/chain/handler.ts';
import { namesWithin } from '@portolan/kernel/chain/match.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { DIRECT_SERVERS, type DirectServers } from '@portolan/kernel/chain/reader-forwarding.ts';
import type { PluginInspection } from '@portolan/kernel/contract/inspection.ts';
import type { Plugin } from '@portolan/kernel/contract/plugin.ts';
import { inspectForwarders } from './inspected-forwarders.ts';
import type { ForwardOptions, ForwardRoute } from './options.ts';
import { type RouteDependencies, ServingRoute } from './route.ts';

export class Forward implements Plugin {
  readonly handler: Handler;
  readonly #routes: readonly ServingRoute[];
  readonly #readerPath: RouteDependencies['readerPath'];

  /** @param former its routes with the same zones hand over their servers */
  constructor({ routes }: ForwardOptions, dependencies: RouteDependencies, former?: Forward) {
    this.#readerPath = dependencies.readerPath;
    const left = former === undefined ? [] : [...former.#routes];
    this.#routes = routes.map((route) => {
      const place = left.findIndex(({ scope }) => isSameRoute(scope, route));
      const [same] = place < 0 ? [] : left.splice(place, 1);
      return new ServingRoute(route, dependencies, same);
    });
    this.handler = {
      name: 'forward',
      role: 'forwarder',
      offers: [DIRECT_SERVERS.offer((zone) => this.#directFor(zone))],
      ruleFor: (name) => this.#routes.find((route) => route.includes(name)),
      questions: namesWithin(new Set(routes.map(({ from }) => from))),
      answers: 'unchanged',
      answersClasses: 'all',
      handle: (query, next) => this.#handle(query, next),
    };
  }

  /** Finds the servers. @throws UpstreamError */
  async start(): Promise<void> {
    for (const route of this.#routes) await route.start();
  }

  follow(): void {
    for (const route of this.#routes) route.follow();
  }

  shown(): void {
    this.update();
  }

  serving(): void {
    for (const { forwarder } of this.#routes) forwarder?.testForLoops();
  }

  async stop(): Promise<void> {
    for (const route of this.#routes) await route.stop();
  }

  /** Call it when the names that readers may forward have changed. */
  update(): void {
    this.#readerPath.noteGeneration();
    for (const route of this.#routes) route.update();
  }

  /** Whether a question is our own loop probe, sent back by a server that we asked. Do not answer it. */
  isOwnProbe(question: Question): boolean {
    return this.#routes.some(({ forwarder }) => forwarder?.isOwnProbe(question) === true);
  }

  inspect(): PluginInspection {
    return inspectForwarders(this.#routes.flatMap(({ forwarder }) => forwarder ?? []));
  }

  /** The servers for names of a zone that no other route covers; undefined: readers may not ask them. */
  #directFor(zone: NameKey): DirectServers | undefined {
    const place = this.#routes.findIndex(({ scope }) => isWithin(zone, scope.from));
    const route = this.#routes[place];
    if (route === undefined || (place < this.#routes.length - 1 && mayPassOn(route.scope))) return undefined;
    const { direct } = route;
    const before = this.#routes.slice(0, place).map(({ scope }) => scope.from);
    return direct && { ...direct, exceptions: [...before, ...route.scope.except] };
  }

  async #handle(query: Query, next: Next): Promise<Answer> {
    for (const [index, route] of this.#routes.entries()) {
      if (!route.includes(query.key)) continue;
      query.forbidStoring();
      if (query.look !== undefined) {
        const { open, answer } = route.look(query.key);
        query.look.wouldAsk(open);
        return answer;
      }
      const answer = await route.answer(query);
      const isLast = index === this.#routes.length - 1;
      if (isLast || !passesOn(route.scope, answer)) return answer;
    }
    return next(query);
  }
}

/** Whether one takes over the servers of the other. */
function isSameRoute(former: ForwardRoute, route: ForwardRoute): boolean {
  return former.replies.kind === route.replies.kind && former.from === route.from;
}

/** Whether some answers lead to the next route. */
function mayPassOn({ nextRcodes, nextOnNoData }: ForwardRoute): boolean {
  return nextRcodes.length > 0 || nextOnNoData;
}

function passesOn({ nextRcodes, nextOnNoData }: ForwardRoute, answer: Answer): boolean {
  if (answer.kind !== 'message' && answer.kind !== 'forwarded') return false;
  const { rcode, answers } = answer;
  return nextRcodes.includes(rcode) || (nextOnNoData && rcode === RCODE.NOERROR && answers.length === 0);
}
