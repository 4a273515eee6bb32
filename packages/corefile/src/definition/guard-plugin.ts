/**
 * A fence around plugins from outside: they have the form of our own, and whatever they do ends with an answer, an error, or a line in the
 * log.
 */
import { tryParseKey } from '@portolan/dns/name.ts';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Chain, Handler as HostHandler, Next } from '@portolan/kernel/chain/handler.ts';
import { ALL_QUESTIONS, type Match, type Questions } from '@portolan/kernel/chain/match.ts';
import { Query } from '@portolan/kernel/chain/query.ts';
import { PluginAnswerError } from '@portolan/kernel/contract/checked-answer.ts';
import { acceptAnswer, lendAnswer } from '@portolan/kernel/contract/lent-answer.ts';
import type { Plugin, PluginContext, StopReason } from '@portolan/kernel/contract/plugin.ts';
import {
  COUNTERS,
  type Context,
  findHandlerFault,
  type Handler,
  type Plugin as OutsidePlugin,
  type PluginDefinition,
  PUBLICATIONS,
  type Service,
  STORED_ANSWERS,
  UPSTREAMS,
  WATCHES,
} from '@portolan/plugin';
import type { DirectiveCursor } from '../directive/directive-cursor.ts';
import type { CorefilePluginDefinition } from './define-plugin.ts';

const API = 2;
/** Milliseconds: a client asks again after 5 s. */
const DEADLINE = 5_000;
const START_DEADLINE = 60_000;
const STOP_DEADLINE = 10_000;
/** The engine compiles each match into a rule of the table. */
const MAX_MATCHES = 100_000;
/** The services of the contract. Those of the engine are for our own plugins. */
const SERVICES: readonly Service<unknown>[] = [COUNTERS, PUBLICATIONS, STORED_ANSWERS, UPSTREAMS, WATCHES];

/** @returns a fault of what a module exports; undefined if it is a definition for this server */
export function findDefinitionFault(exported: unknown): string | undefined {
  if (typeof exported !== 'object' || exported === null) return 'it has no default export';
  const { api, syntax, read, create } = exported as Partial<PluginDefinition> & { api?: unknown };
  // CommonJS without exports, as a module without `import` and `export` is, gives an empty object.
  if (api === undefined)
    return Object.keys(exported).length === 0 ? 'it has no default export' : 'definePlugin has not made it';
  if (api !== API) return `it is for API ${String(api)}, and this server has API ${API}`;
  if (!Array.isArray(syntax)) return 'it has no syntax';
  return typeof read === 'function' && typeof create === 'function' ? undefined : 'it lacks read or create';
}

/** The definition with a fence around it. @param before the plugin that sees queries directly after it */
export function guardPlugin(
  definition: PluginDefinition,
  before: string,
): CorefilePluginDefinition<string, unknown> {
  const { name, syntax, hasSideEffects } = definition;
  return {
    name,
    syntax,
    before,
    answers: true,
    ...(hasSideEffects === true && { hasSideEffects }),
    read(cursor, context) {
      try {
        return definition.read(cursor, context);
      } catch (error) {
        refuse(cursor, error, `Compare the line with its syntax: ${syntax.join(' or ')}`);
        return undefined;
      }
    },
    create(options, context) {
      const plugin: unknown = definition.create(options, limitContext(context));
      if (typeof plugin !== 'object' || plugin === null)
        throw new TypeError(`plugin/${name}: create returns no plugin`);
      // Each use of its members is guarded.
      return new GuardedPlugin(name, plugin as OutsidePlugin, context);
    },
  };
}

function refuse(cursor: DirectiveCursor, error: unknown, remedy: string): void {
  cursor.refuse(cursor.error(describeError(error), remedy));
}

/** Only what the contract has: the parts of our own plugins, such as `find`, may change at any time. */
function limitContext(context: PluginContext): Context {
  const { zones, server, log, clock } = context;
  return {
    zones,
    server,
    log,
    clock,
    chain: (query) => askHost(context.chain, query),
    lookUp: (query) => askHost(context.lookUp, query),
    changed: () => context.changed(),
    use: (service) => useService(context, service),
  };
}

/** @throws TypeError for a name that the contract does not have */
function useService<Value>(context: PluginContext, { name }: Service<Value>): Value {
  const service = SERVICES.find((each) => each.name === name);
  if (service === undefined) throw new TypeError(`no service: ${name}`);
  // A name has one type.
  return context.use(service) as Value;
}

class GuardedPlugin implements Plugin {
  readonly handler: HostHandler | undefined;
  readonly losesReadiness: boolean;
  readonly #name: string;
  readonly #plugin: OutsidePlugin;
  readonly #context: PluginContext;
  /** Readiness is asked for all the time: one line tells of its failures. */
  #isReadyFailed = false;

  /** @throws TypeError for a handler that is not one */
  constructor(name: string, plugin: OutsidePlugin, context: PluginContext) {
    this.#name = name;
    this.#plugin = plugin;
    this.#context = context;
    this.losesReadiness = plugin.losesReadiness === true;
    this.handler = plugin.handler && guardHandler(name, plugin.handler, context.clock);
  }

  async start(): Promise<void> {
    const { clock } = this.#context;
    const isStarted = await inTime(clock, START_DEADLINE, async () => {
      await this.#plugin.start?.();
      return true;
    });
    if (isStarted === undefined)
      throw new Error(`plugin/${this.#name}: not started within ${START_DEADLINE / 1000} s`);
  }

  proceed(): void {
    this.#try('proceed', () => this.#plugin.proceed?.());
  }

  serving(): void {
    this.#try('serving', () => this.#plugin.serving?.());
  }

  reload(): void {
    this.#try('reload', () => this.#plugin.reload?.());
  }

  isReady(): boolean {
    try {
      return this.#plugin.isReady?.() ?? true;
    } catch (error) {
      if (!this.#isReadyFailed) this.#complain('isReady', describeError(error));
      this.#isReadyFailed = true;
      return false;
    }
  }

  async stop(reason: StopReason): Promise<void> {
    try {
      const isStopped = await inTime(this.#context.clock, STOP_DEADLINE, async () => {
        await this.#plugin.stop?.(reason);
        return true;
      });
      if (isStopped === undefined) this.#complain('stop', `not within ${STOP_DEADLINE / 1000} s`);
    } catch (error) {
      this.#complain('stop', describeError(error));
    }
  }

  #try(method: string, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#complain(method, describeError(error));
    }
  }

  #complain(method: string, reason: string): void {
    this.#context.log.error(`plugin/${this.#name}: ${method} failed`, { reason });
  }
}

/** @throws TypeError for what is not a handler, or one that this server cannot ask */
function guardHandler(name: string, handler: Handler, clock: Clock): HostHandler {
  const { answers, questions } = handler;
  const fault = findHandlerFault(handler);
  if (fault !== undefined) throw new TypeError(`plugin/${name}: ${fault}`);
  const stated = guardQuestions(questions);
  const isOfOtherClass = (query: Query) => query.question.class !== 1 && handler.answersClasses !== undefined;
  return {
    ...handler,
    name,
    answers: answers === 'modifiers' || answers === 'chain' ? answers : 'unchanged',
    questions: stated,
    handle: (query, next) =>
      answers !== 'unchanged' || stated.includes(query.key, query.question.type) || isOfOtherClass(query)
        ? askInTime(name, handler, query, next, clock)
        : next(query),
  };
}

/** A mistake in them makes them too wide, which is slow and never wrong. */
function guardQuestions(questions: Questions): Questions {
  return {
    includes(name, type) {
      try {
        return questions.includes(name, type) !== false;
      } catch {
        return true;
      }
    },
    matches() {
      try {
        const matches: Match[] = [];
        for (const match of questions.matches()) {
          if (matches.length >= MAX_MATCHES || !isMatch(match)) return ALL_QUESTIONS.matches();
          matches.push(match);
        }
        return matches;
      } catch {
        return ALL_QUESTIONS.matches();
      }
    },
  };
}

function isMatch({ name, types }: Match): boolean {
  const isName = name.kind === 'any' || tryParseKey(name.name) === name.name;
  return isName && (types === 'all' || types instanceof Set);
}

async function askInTime(
  name: string,
  handler: Handler,
  query: Query,
  next: Next,
  clock: Clock,
): Promise<Answer> {
  const reply = await inTime(clock, DEADLINE, async () => ({
    answer: await handler.handle(query, (given) => askHost(next, given)),
  }));
  if (reply !== undefined) return acceptAnswer(reply.answer);
  query.forbidStoring();
  return { kind: 'servfail', reason: `plugin/${name}: no reply within ${DEADLINE / 1000} s` };
}

/** @throws PluginAnswerError for an object that only looks like a query */
async function askHost(chain: Chain, given: object): Promise<Answer> {
  if (!(given instanceof Query)) throw new PluginAnswerError('a query that the host did not make');
  return lendAnswer(await chain(given));
}

/** @returns undefined if the time is over first */
async function inTime<Value>(
  clock: Clock,
  milliseconds: number,
  work: () => Promise<Value>,
): Promise<Value | undefined> {
  let timer: Timer | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = clock.after(milliseconds, () => resolve(undefined));
  });
  try {
    return await Promise.race([work(), over]);
  } finally {
    timer?.cancel();
  }
}
