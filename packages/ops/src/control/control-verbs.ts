/**
 * What a server does for the requests of its control socket. This module is loaded with the first request.
 */
import { rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { isWithin, toKey } from '@portolan/dns/name.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { LogLevel } from '@portolan/kernel/base/log.ts';
import { readHandover } from '@portolan/kernel/chain/handover-answer.ts';
import { forwardersIn } from '@portolan/plugins/forward/inspected-forwarders.ts';
import type { History } from '@portolan/server/history/history.ts';
import type { HistoryRecord } from '@portolan/server/history/history-record.ts';
import type { CarryOut } from '@portolan/server/observe/control/control-socket.ts';
import type {
  EventExplanation,
  ExplainEvents,
} from '@portolan/server/observe/query-events/explained-event.ts';
import type { LogFormat } from '@portolan/server/plan/query-log-plan.ts';
import type { Server } from '@portolan/server/server.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { diagnose } from './diagnose.ts';
import { Explainer } from './explain.ts';
import { listChanges, listNames } from './published-names.ts';
import { QueryStatistics } from './query-statistics.ts';
import { ALL_EVENTS, QueryStream } from './query-stream.ts';
import { countQuestions } from './questions.ts';
import { findNamespaceTest } from './served-domain.ts';
import { type ControlOrder, type HistoryOrder, readControlOrder } from './settings/control-order.ts';
import { readStatus } from './status.ts';
import { tail, top } from './watch-verbs.ts';

/** A log whose level can change; servers without levels have none. */
export interface LevelHolder {
  level: LogLevel;
}

export interface ControlledServer {
  readonly server: Server;
  /** The command of the server. */
  readonly role: string;
  /** Undefined: the level of its log is fixed. */
  readonly log: LevelHolder | undefined;
  /** The default format of the query log. */
  readonly format: LogFormat;
  readonly clock: Clock;
  /** The statistics that are always kept; undefined: none are. */
  readonly statistics: () => QueryStatistics | undefined;
  /** Undefined: none is kept. */
  readonly history: () => History | undefined;
}

/** For lines of the query log. */
export function createEventExplainer(controlled: Pick<ControlledServer, 'server' | 'clock'>): ExplainEvents {
  const explainer = createExplainer(controlled);
  const queries = new QueryStream(explainer, ALL_EVENTS, controlled.clock);
  return async (events) => {
    const { domain } = explainer;
    const explanations: (EventExplanation | undefined)[] = [];
    for (const event of events) explanations.push(await queries.explain(event, domain));
    return explanations;
  };
}

export function createExplainer({ server, clock }: Pick<ControlledServer, 'server' | 'clock'>): Explainer {
  return new Explainer({
    engine: server.engine,
    get plan() {
      return server.plan;
    },
    missing: () => server.missing,
    clock,
  });
}

/** Begins to keep statistics. */
export function keepStatistics(controlled: Pick<ControlledServer, 'server' | 'clock'>): QueryStatistics {
  const { server, clock } = controlled;
  return new QueryStatistics({
    tap: server.tap,
    domain: createExplainer(controlled).domain,
    findNamespaceTest: () => findNamespaceTest(server),
    clock,
  });
}

export function createVerbs(controlled: ControlledServer): CarryOut {
  const { format } = controlled;
  const explainer = createExplainer(controlled);
  return async function* carryOut({ verb, words, evidence }, signal) {
    const checked = readControlOrder([verb, ...words], format);
    if (checked.kind === 'bad') throw new Error(checked.problems.map(describeProblem).join(' '));
    yield* answer(checked.value, { ...controlled, explainer }, evidence ?? [], signal);
  };
}

async function* answer(
  order: ControlOrder,
  controlled: ControlledServer & { readonly explainer: Explainer },
  evidence: readonly unknown[],
  signal: AbortSignal,
): AsyncIterable<unknown> {
  const { server, explainer, log } = controlled;
  switch (order.kind) {
    case 'status':
      yield readServerStatus(controlled);
      return;
    case 'explain':
      yield await explainer.explain(order, evidence);
      return;
    case 'lookup':
      yield await explainer.lookUp(order.name, order.type, order.from);
      return;
    case 'cache':
      if (order.action === 'dump') yield* dumpCache(server, order.domain);
      else yield { flushed: order.domain, ...flush(server, order.domain) };
      return;
    case 'accept':
      yield acceptLosses(server);
      return;
    case 'upstream':
      yield switchUpstream(server, order.server, order.isOn);
      return;
    case 'log-level':
      if (log === undefined) throw new Error('log-level: this server has a log without levels.');
      log.level = order.level;
      yield readServerStatus(controlled);
      return;
    case 'query-log':
      await server.queryLog.change(order.plan);
      yield readServerStatus(controlled);
      return;
    case 'reopen-query-log':
      server.queryLog.reopen();
      yield readServerStatus(controlled);
      return;
    case 'tail':
      yield* tail(order, controlled, signal);
      return;
    case 'top':
      yield* top(order, controlled, signal);
      return;
    case 'questions':
      yield* countQuestions(order, controlled, signal);
      return;
    case 'names':
      yield* listNames(server, order.bucket);
      return;
    case 'changes':
      yield* listChanges(server, order.rows);
      return;
    case 'history':
      yield* readHistory(order, controlled);
      return;
    case 'doctor':
      yield await diagnose(order, controlled, evidence, signal);
  }
}

function readServerStatus({ server, role, log, clock }: ControlledServer) {
  return readStatus({ server, role, level: log?.level, clock });
}

async function* readHistory(
  { from = 0, to = Number.POSITIVE_INFINITY, since, record: wanted }: HistoryOrder,
  { history, clock }: ControlledServer,
): AsyncIterable<HistoryRecord> {
  const current = history();
  if (current === undefined)
    throw new Error('history: this server keeps none. Start it without history-size 0, or history off.');
  for await (const record of current.read(since === undefined ? from : clock.now() - since, to))
    if (wanted === undefined || record.kind === wanted || record.kind === 'reach') yield record;
}

/** Answers may be dropped while they are read. */
async function* dumpCache(server: Server, domain: NameKey): AsyncIterable<unknown> {
  let count = 0;
  for (const [keeper, { handOver }] of bound(server))
    for (const isUsed of [true, false])
      for (const handed of handOver(isUsed)) {
        const { key, message } = readHandover(handed);
        // Other queries are served between two parts.
        if (++count % PART === 0) await new Promise((resolve) => setImmediate(resolve));
        if (!isWithin(toKey(key.name), domain)) continue;
        const { answers, authorities, header } = message;
        yield {
          keeper,
          name: key.name,
          type: typeName(key.type),
          rcode: rcodeName(header.rcode),
          // Milliseconds, as all durations of replies.
          age: handed.age * 1_000,
          left: (handed.lifetime - handed.age) * 1_000,
          isUsed,
          records: [...answers, ...authorities].map(presentRecord),
        };
      }
}

const PART = 200;

function bound(server: Server) {
  return [...server.engine.keepers].map(
    ([text, keeper]) => [text, { handOver: (isUsed: boolean) => keeper.handOver(isUsed) }] as const,
  );
}

function flush(server: Server, domain: NameKey): { readonly before: number; readonly after: number } {
  const before = server.engine.table.statistics().cached;
  server.engine.serverBlocks.forget(domain);
  server.engine.table.collect();
  return { before, after: server.engine.table.statistics().cached };
}

function acceptLosses({ engine }: Server): unknown {
  const losses = engine.losses.accept();
  const sources = losses.map(({ kind, subject, names }) => ({ source: `${kind} of ${subject}`, names }));
  return { removed: sources.reduce((sum, { names }) => sum + names, 0), sources };
}

function switchUpstream(server: Server, name: string, isOn: boolean): unknown {
  const inspections = server.engine.serverBlocks.inspect();
  const forwarders = forwardersIn(inspections);
  const found = forwarders.filter((forwarder) => forwarder.switchServer(name, isOn));
  if (found.length === 0)
    throw new Error(`upstream: unknown: "${name}". Give a server that status shows, as in 10.0.0.2:53.`);
  return { upstream: name, state: isOn ? 'on' : 'off', rules: found.length };
}
