/**
 * A plugin of others in a server block: asks it only the questions that it states, within a deadline.
 */
import type { Context, Instance, PluginModule, Reply, Query as ShownQuery } from '@portolan/plugin';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Log, LogLevel } from '../../base/log.ts';
import type { Answer } from '../../chain/answer.ts';
import type { Handler, Next } from '../../chain/handler.ts';
import { CountFamily, type HandlerCount } from '../../chain/handler-counts.ts';
import { ALL_QUESTIONS, anyName, namesWithin, type Questions } from '../../chain/match.ts';
import type { Query } from '../../chain/query.ts';
import type { Plugin, PluginContext } from '../../contract/plugin.ts';
import { ANSWER_TABLE } from '../../contract/services.ts';
import { parseName, toKey } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import { PluginUpstreams } from './plugin-upstreams.ts';
import { PluginWatches } from './plugin-watches.ts';
import { answerOf, showAnswer } from './replies.ts';
import { queryOf, showQuery } from './shown-query.ts';

/** Milliseconds: a client asks again after 5 s. */
const DEADLINE = 5_000;
const START_DEADLINE = 60_000;

export function createOutsidePlugin(module: PluginModule, options: unknown, context: PluginContext): Plugin {
  const watches = watchesOf(module.name, context);
  const upstreams = new PluginUpstreams(context);
  const instance = module.create(options, {
    ...showContext(module.name, context),
    watch: (kind, changed) => watches.follow(kind, changed),
    upstream: (address, more) => upstreams.open(address, more),
  });
  const ending = new AbortController();
  return {
    handler: handlerOf(module.name, instance, context),
    start: async () => await startInTime(module.name, instance, ending.signal, context),
    proceed: () => ending.abort(),
    isReady: () => instance.isReady?.() ?? true,
    stop: async () => {
      ending.abort();
      try {
        await instance.stop?.();
      } finally {
        upstreams.stop();
        await watches.stop();
      }
    },
  };
}

/** Their lines in the log say which plugin follows. */
function watchesOf(name: string, { log, clock }: PluginContext): PluginWatches {
  const line =
    (level: LogLevel): Log[LogLevel] =>
    (message, fields) =>
      log[level](`plugin/${name}: ${message}`, fields);
  return new PluginWatches({
    ...{ clock, environment: process.env },
    log: { error: line('error'), warn: line('warn'), info: line('info'), debug: line('debug') },
  });
}

/** @throws Error with the reason why it cannot start */
async function startInTime(
  name: string,
  instance: Instance,
  signal: AbortSignal,
  { clock }: PluginContext,
): Promise<void> {
  const isStarted = await inTime(clock, START_DEADLINE, async () => {
    await instance.start?.(signal);
    return true;
  });
  if (isStarted === undefined)
    throw new Error(`plugin/${name}: not started within ${START_DEADLINE / 1000} s`);
}

function handlerOf(name: string, instance: Instance, context: PluginContext): Handler {
  const questions = questionsOf(instance.questions);
  return {
    name,
    role: 'other',
    questions,
    answers: 'unchanged',
    handle: (query, next) =>
      questions.includes(query.key, query.question.type)
        ? askInTime(name, instance, query, next, context)
        : next(query),
  };
}

function questionsOf(stated: Instance['questions']): Questions {
  switch (stated.kind) {
    case 'all':
      return ALL_QUESTIONS;
    case 'any name':
      return anyName(new Set(stated.types));
    case 'within': {
      const zones = new Set(stated.zones.map(zoneOf));
      return namesWithin(zones, stated.types === undefined ? 'all' : new Set(stated.types));
    }
  }
}

function zoneOf(text: string): NameKey {
  return toKey(parseName(text));
}

async function askInTime(
  name: string,
  instance: Instance,
  query: Query,
  next: Next,
  { clock }: PluginContext,
): Promise<Answer> {
  const over = new AbortController();
  const shown = showQuery(query, over.signal);
  const behind = async (given: ShownQuery): Promise<Reply> => showAnswer(await next(queryOf(given)));
  const reply = await inTime(clock, DEADLINE, async () => await instance.handle(shown, behind));
  if (reply === undefined) {
    over.abort();
    return { kind: 'servfail', reason: `plugin/${name}: no reply within ${DEADLINE / 1000} s` };
  }
  // Readers repeat only what the plugin allows them to.
  if (!('keep' in reply) || reply.keep !== 'until-changed') query.forbidStoring();
  return answerOf(reply);
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

function showContext(name: string, context: PluginContext): Omit<Context, 'watch' | 'upstream'> {
  const { log, server, metrics } = context;
  const table = context.use(ANSWER_TABLE);
  const line =
    (level: keyof Context['log']) =>
    (message: string): void =>
      log[level](`plugin/${name}: ${message}`);
  return {
    log: { error: line('error'), warn: line('warn'), info: line('info'), debug: line('debug') },
    server,
    counter(counter, help) {
      const family = new CountFamily(metrics, `coredns_${name}_${counter}`, help, ['server', 'view']);
      const count: HandlerCount = family.with();
      return { add: (query) => queryOf(query).count(count) };
    },
    lookUp: async (query) => showAnswer(await context.lookUp(queryOf(query))),
    changed: () => table.planChanged(),
  };
}
