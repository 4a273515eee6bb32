/**
 * The resolution of one question by the servers of its group, as a transition table: `(state, event) -> (state, effects)`.
 *
 *     asking     queries are in flight, or a retry is due later
 *     holding    a negative answer of a later server waits for the servers asked before it
 *     done       the outcome is known
 *
 * This file never sends, waits or reads a clock: `QueryRunner` carries out the effects and reports the events.
 */
import {
  changeUse,
  countFailed,
  countQueries,
  delayUntilFailover,
  delayUntilNext,
  delayUntilUnasked,
  impatiently,
  isDown,
  isRefusedForLong,
  needsNoBudget,
  pickServer,
  type ServerUse,
  type ServerView,
  type ServerViews,
  settleQuery,
  UNASKED,
  usesEdns,
} from './server-choice.ts';

export type QueryState =
  | {
      readonly kind: 'asking';
      readonly servers: readonly ServerUse[];
      /** The best reply so far that was not good enough. */
      readonly kept: 'nothing' | 'error' | 'truncated';
    }
  | { readonly kind: 'holding'; readonly servers: readonly ServerUse[] }
  | { readonly kind: 'done' };

/** Servers are numbered by their places in the order. */
export type QueryStateEvent =
  /** @param atOnce how many of the first servers to ask at once, from 1 */
  | { readonly kind: 'start'; readonly atOnce: number }
  /** Another thread asked the server, at this time. */
  | { readonly kind: 'taken-over'; readonly server: number; readonly askedAt: number }
  | {
      readonly kind: 'replied';
      readonly server: number;
      readonly verdict: ReplyQuality;
      readonly isOverdue: boolean;
    }
  /** The server is slower than usual. */
  | { readonly kind: 'slow'; readonly server: number }
  /** The server has exceeded its usual time. */
  | { readonly kind: 'overdue'; readonly server: number; readonly hadEdns: boolean }
  | {
      readonly kind: 'failed';
      readonly server: number;
      readonly failure: QueryFailure;
      readonly isOverdue: boolean;
      /** Whether it is an end of the wait for the reply to a query with EDNS. Default: no. */
      readonly hadEdns?: boolean;
    }
  /** The budget's answers to a `request`. */
  | { readonly kind: 'granted'; readonly server: number }
  | { readonly kind: 'denied'; readonly purpose: 'retry' | 'hedge' }
  /** The `wait` is over. */
  | { readonly kind: 'waited' }
  /** A client has repeated the question. */
  | { readonly kind: 'repeated' }
  /** The deadline has passed. */
  | { readonly kind: 'expired' };

/**
 * How good a reply is. `error`: its response code requires asking the next server. `no-edns`: the query had EDNS, which
 * may be the reason for its response code.
 */
export type ReplyQuality = 'answer' | 'negative' | 'truncated' | 'error' | 'no-edns';

/** Why there will be no reply. `refused`: the query did not reach the server; `lost`: it may have; `final`: never use this server again. */
export type QueryFailure = 'refused' | 'lost' | 'final';

export type QueryStateEffect =
  /** @param timeout milliseconds until it is overdue */
  | { readonly kind: 'ask'; readonly server: number; readonly withEdns: boolean; readonly timeout: number }
  /** Asks the budget for another query. */
  | { readonly kind: 'request'; readonly server: number; readonly purpose: 'retry' | 'hedge' }
  /** Replaces the previous wait. */
  | { readonly kind: 'wait'; readonly milliseconds: number }
  /** Keeps the reply of this event; it replaces one kept before. */
  | { readonly kind: 'keep' }
  /** Ends with the reply of this event, with the kept one, or without a reply. */
  | { readonly kind: 'finish'; readonly outcome: 'reply' | 'kept' | 'timeout' | 'network' };

export interface QueryStateContext extends ServerViews {
  readonly hedging: boolean;
  /** Whether a question fails at once if every server has been refusing for long. */
  readonly failFast: boolean;
  /** Milliseconds that a negative answer waits, counted from asking the earlier server. */
  readonly negativeWait: number;
}

export interface Move {
  readonly state: QueryState;
  readonly effects: readonly QueryStateEffect[];
}

/** Maximum of queries for one question to all servers, without those that the network refused. */
const MAX_QUERIES = 10;
/** Milliseconds until the next request to the budget. */
const DENIED_WAIT = 100;

const DONE: QueryState = { kind: 'done' };
type StateOf<Kind> = Extract<QueryState, { readonly kind: Kind }>;
type Event<Kind> = Extract<QueryStateEvent, { readonly kind: Kind }>;
type Asking = StateOf<'asking'>;

type ResolutionMoves = {
  readonly [Kind in QueryState['kind']]: {
    readonly [Name in QueryStateEvent['kind']]?: (
      state: StateOf<Kind>,
      event: Event<Name>,
      context: QueryStateContext,
    ) => Move;
  };
};

/** Combinations that are missing here have no effect. */
const MOVES: ResolutionMoves = {
  asking: {
    start,
    'taken-over': whenTakenOver,
    replied: whenReplied,
    slow: whenSlow,
    overdue: whenOverdue,
    failed: whenFailed,
    granted: (state, { server }, context) => askOne(state, server, context),
    denied: (state, { purpose }, context) =>
      purpose === 'retry'
        ? waitAtMost(state, Math.min(DENIED_WAIT, delayUntilUnasked(state.servers, context)))
        : { state, effects: [] },
    waited: (state, _, context) => goOnWithOthers(state, context),
    repeated: whenRepeated,
    expired: giveUp,
  },
  holding: {
    replied: whenRepliedLate,
    failed: (state, event) => {
      const servers = settleQuery(state.servers, event);
      const isOver = servers.every(({ pending }) => pending === 0);
      return isOver ? finish('kept') : { state: { kind: 'holding', servers }, effects: [] };
    },
    waited: () => finish('kept'),
    expired: () => finish('kept'),
  },
  done: {},
};

export function begin(servers: number): QueryState {
  return { kind: 'asking', servers: Array.from({ length: servers }, () => UNASKED), kept: 'nothing' };
}

export function nextMove(state: QueryState, event: QueryStateEvent, context: QueryStateContext): Move {
  // The move is looked up by the names of its state and event, so the types match.
  const move = MOVES[state.kind][event.kind] as
    | ((state: QueryState, event: QueryStateEvent, context: QueryStateContext) => Move)
    | undefined;
  return move === undefined ? { state, effects: [] } : move(state, event, context);
}

function start(state: Asking, { atOnce }: Event<'start'>, context: QueryStateContext): Move {
  if (atOnce > 1)
    return askAll(
      state,
      Array.from({ length: atOnce }, (_, server) => server),
      context,
    );
  const first = pickServer(state.servers, context);
  return first < 0 ? advance(state, context) : askOne(state, first, context);
}

function whenTakenOver(
  state: Asking,
  { server, askedAt }: Event<'taken-over'>,
  context: QueryStateContext,
): Move {
  const then = { ...context, now: askedAt };
  const { state: asked, timeout } = ask(state, server, then);
  const wait = failoverWithin(timeout, asked.servers, then);
  if (wait === undefined) return { state: asked, effects: [] };
  return waitAtMost(asked, wait - (context.now - askedAt));
}

function whenReplied(state: Asking, event: Event<'replied'>, context: QueryStateContext): Move {
  const { server, verdict } = event;
  switch (verdict) {
    case 'answer':
      return finish('reply');
    case 'negative':
      return whenNegative(state, event, context);
    case 'no-edns':
      return ask({ ...state, servers: settleQuery(state.servers, event) }, server, context, false);
    case 'truncated':
    case 'error': {
      const isLater =
        state.kept === 'error' && (verdict === 'truncated' || context.retry.trigger === 'failure');
      const isKept = state.kept === 'nothing' || isLater;
      const servers = changeUse(settleQuery(state.servers, event), server, { isSpent: true });
      const kept = isKept ? verdict : state.kept;
      const { state: after, effects } = goOn({ kind: 'asking', servers, kept }, context);
      return { state: after, effects: isKept ? [{ kind: 'keep' }, ...effects] : effects };
    }
  }
}

/** An earlier server may know a name that a later one denies. */
function whenNegative(state: Asking, event: Event<'replied'>, context: QueryStateContext): Move {
  const { askedAt } = state.servers[event.server] ?? UNASKED;
  let until = 0;
  for (const [index, use] of state.servers.entries()) {
    const isAwaited = use.pending > 0 && use.askedAt < askedAt && context.servers[index]?.isDown === false;
    if (isAwaited) until = Math.max(until, use.askedAt + context.negativeWait);
  }
  if (until <= context.now) return finish('reply');
  const servers = settleQuery(state.servers, event);
  return {
    state: { kind: 'holding', servers },
    effects: [{ kind: 'keep' }, { kind: 'wait', milliseconds: until - context.now }],
  };
}

function whenRepliedLate(
  state: StateOf<'holding'>,
  event: Event<'replied'>,
  context: QueryStateContext,
): Move {
  if (event.verdict === 'answer' || event.verdict === 'negative') return finish('reply');
  if (event.verdict !== 'no-edns') return finish('kept');
  const asking: Asking = { kind: 'asking', servers: settleQuery(state.servers, event), kept: 'nothing' };
  const { state: after, effects } = ask(asking, event.server, context, false);
  return { state: after.kind === 'asking' ? { kind: 'holding', servers: after.servers } : after, effects };
}

/** A hedge: if the order is not binding, asks a second server before the first is overdue. */
function whenSlow(state: Asking, _: Event<'slow'>, context: QueryStateContext): Move {
  const other = context.hedging
    ? state.servers.findIndex(({ queries, isSpent }) => queries === 0 && !isSpent)
    : -1;
  if (other < 0 || isDown(other, context)) return { state, effects: [] };
  return { state, effects: [{ kind: 'request', server: other, purpose: 'hedge' }] };
}

function whenOverdue(state: Asking, event: Event<'overdue'>, context: QueryStateContext): Move {
  const use = state.servers[event.server] ?? UNASKED;
  const silences = use.silences + (event.hadEdns ? 1 : 0);
  const servers = changeUse(state.servers, event.server, { overdue: use.overdue + 1, silences });
  const move = goOnWithOthers({ ...state, servers }, context);
  return event.hadEdns && use.silences === 0 ? tryWithoutEdns(move, event.server, context) : move;
}

/**
 * Something on the way may drop queries with EDNS: after the first silence of a server that is not known to answer them, it is asked
 * without, whoever else is asked.
 */
function tryWithoutEdns(move: Move, server: number, context: QueryStateContext): Move {
  const { state, effects } = move;
  if (state.kind !== 'asking' || usesEdns(state.servers, server, context)) return move;
  const isAskedAnyway = effects.some(
    (effect) => (effect.kind === 'ask' || effect.kind === 'request') && effect.server === server,
  );
  if (isAskedAnyway || countQueries(state.servers) >= MAX_QUERIES) return move;
  const without = ask(state, server, context, false);
  return { state: without.state, effects: [...effects, ...without.effects] };
}

/** Asks the next server, or the same one again, when the last one has exceeded its time. */
function goOnWithOthers(state: Asking, context: QueryStateContext): Move {
  if (context.retry.trigger !== 'client') return advance(state, context);
  if (isLeftToClients(context)) return { state, effects: [] };
  // The same server is asked again when a client repeats the question; the others need not wait for that.
  const others = [...state.servers.keys()].filter((server) => state.servers[server]?.queries === 0);
  return askAll(state, others, context);
}

function whenFailed(state: Asking, event: Event<'failed'>, context: QueryStateContext): Move {
  const { server, failure } = event;
  const settled = settleQuery(state.servers, event);
  if (context.retry.trigger === 'failure') {
    const silences = (settled[server]?.silences ?? 0) + (event.hadEdns === true ? 1 : 0);
    return whenFailedOnce(state, changeUse(settled, server, { silences }), server, context);
  }
  const isRefused = failure === 'refused';
  const nextAt = isRefused ? context.now + context.retry.refusedInterval : (settled[server]?.nextAt ?? 0);
  const { pending = 0, failoverAt = 0 } = settled[server] ?? {};
  // No reply is awaited from it any more.
  const isLost = failure === 'lost' && pending === 0;
  const servers = changeUse(settled, server, {
    isSpent: failure === 'final',
    isRefused,
    nextAt,
    failoverAt: isLost ? context.now : failoverAt,
  });
  const after = { ...state, servers };
  return context.failFast && isRefused && isRefusedForLong(servers, context)
    ? giveUp(after)
    : goOn(after, context);
}

/** As CoreDNS does: asks the next server in the order at once, until `attempts` queries have failed. */
function whenFailedOnce(
  state: Asking,
  settled: readonly ServerUse[],
  server: number,
  context: QueryStateContext,
): Move {
  const servers = changeUse(settled, server, { nextAt: context.now + context.retry.refusedInterval });
  const after = { ...state, servers };
  // If all were down, one was asked in case only the checks fail.
  const isHopeless = servers.every((_, other) => isDown(other, context));
  return isHopeless ? giveUp(after) : advance(after, context);
}

/** Repeats the question after a client did, to the server whose turn it is, unless that still has time to reply. */
function whenRepeated(state: Asking, event: Event<'repeated'>, context: QueryStateContext): Move {
  if (context.retry.trigger === 'client') return repeatAsDnsmasq(state, event, context);
  if (context.retry.trigger === 'failure') return { state, effects: [] };
  if (countQueries(state.servers) >= MAX_QUERIES) return { state, effects: [] };
  const server = pickServer(impatiently(state.servers, context), context);
  return server < 0 ? { state, effects: [] } : askOne(state, server, context);
}

/** As dnsmasq does: asks all servers, or in a binding order the next one, and finally the last one repeatedly. */
function repeatAsDnsmasq(state: Asking, _: Event<'repeated'>, context: QueryStateContext): Move {
  const { interval, scope } = context.retry;
  const sentAt = state.servers.reduce((max, use) => Math.max(max, use.sentAt), 0);
  // Equal questions at nearly the same time come from several clients, not from one that repeats its question.
  if (context.now < sentAt + interval) return { state, effects: [] };
  if (scope === 'all') return askAll(state, state.servers.keys(), context);
  const last = state.servers.findLastIndex(({ queries }) => queries > 0);
  return askAll(state, [Math.min(last + 1, state.servers.length - 1)], context);
}

function askAll(state: Asking, servers: Iterable<number>, context: QueryStateContext): Move {
  let asking = state;
  const effects: QueryStateEffect[] = [];
  for (const server of servers) {
    if (asking.servers[server]?.isSpent === true) continue;
    const move = ask(asking, server, context);
    asking = move.state;
    effects.push(...move.effects);
  }
  return { state: asking, effects };
}

/** After a reply that is not good enough: asks the next server, unless another one still has time to reply. */
function goOn(state: Asking, context: QueryStateContext): Move {
  const hasUnasked = state.servers.some(({ queries, isSpent }) => queries === 0 && !isSpent);
  if (hasUnasked || state.servers.every(({ pending, overdue }) => pending <= overdue))
    return advance(state, context);
  const wait = delayUntilNext(state.servers, context);
  return Number.isFinite(wait)
    ? { state, effects: [{ kind: 'wait', milliseconds: Math.max(wait, 1) }] }
    : { state, effects: [] };
}

/** Asks the server with the fewest queries among those that are due; otherwise waits for the next one. */
function advance(state: Asking, context: QueryStateContext): Move {
  if (state.servers.every(({ isSpent }) => isSpent)) return giveUp(state);
  if (context.retry.trigger === 'failure') {
    if (countFailed(state.servers) >= (context.retry.attempts ?? MAX_QUERIES)) return giveUp(state);
  } else if (countQueries(state.servers) >= MAX_QUERIES) return { state, effects: [] };
  const best = pickServer(state.servers, context);
  if (best >= 0)
    return needsNoBudget(state.servers, best, context)
      ? askOne(state, best, context)
      : { state, effects: [{ kind: 'request', server: best, purpose: 'retry' }] };
  const milliseconds = delayUntilNext(state.servers, context);
  return Number.isFinite(milliseconds)
    ? { state, effects: [{ kind: 'wait', milliseconds }] }
    : { state, effects: [] };
}

function waitAtMost(state: Asking, milliseconds: number): Move {
  return { state, effects: [{ kind: 'wait', milliseconds: Math.max(milliseconds, 1) }] };
}

/** Asks a server, and checks again when it is the turn of the next one, even if no event comes by then. */
function askOne(state: Asking, server: number, context: QueryStateContext): Move {
  const { state: asked, effects, timeout } = ask(state, server, context);
  const milliseconds = failoverWithin(timeout, asked.servers, context);
  if (milliseconds === undefined) return { state: asked, effects };
  return { state: asked, effects: [...effects, { kind: 'wait', milliseconds }] };
}

/**
 * Milliseconds until the next server is asked, if the query to this one is not overdue by then. Time-outs grow over questions that a
 * server does not answer, but no question waits for that if there is another server.
 */
function failoverWithin(
  timeout: number,
  servers: readonly ServerUse[],
  context: QueryStateContext,
): number | undefined {
  if (context.retry.trigger === 'failure' || isLeftToClients(context)) return undefined;
  const wait = delayUntilFailover(servers, context);
  return wait > 0 && wait < timeout ? wait : undefined;
}

/** Whether only a client's repeat makes the next server be asked: the strict order of dnsmasq. */
function isLeftToClients({ retry: { trigger, scope } }: QueryStateContext): boolean {
  return trigger === 'client' && scope === 'next';
}

function ask(
  state: Asking,
  server: number,
  context: QueryStateContext,
  withEdns = usesEdns(state.servers, server, context),
): Move & { readonly state: Asking; readonly timeout: number } {
  const { retry, now } = context;
  const use = state.servers[server] ?? UNASKED;
  const view = context.servers[server];
  // If EDNS may be the reason for its silence, the query without does not wait for its back-off either.
  const isDoubtful = withEdns && use.queries === 0 && view?.knowsEdns === false;
  const timeout =
    (isDoubtful ? view.roundTrip.usualTimeout() : view?.roundTrip.timeout(use.queries)) ?? retry.interval;
  const failover = computeFailoverDelay(view?.roundTrip, context) ?? 0;
  const servers = changeUse(state.servers, server, {
    queries: use.queries + (use.isRefused ? 0 : 1),
    pending: use.pending + 1,
    askedAt: use.queries === 0 ? now : use.askedAt,
    sentAt: now,
    failoverAt: use.queries === 0 ? now + failover : use.failoverAt,
    nextAt: retry.trigger === 'client' ? Number.POSITIVE_INFINITY : now + Math.max(timeout, retry.interval),
    isRefused: false,
  });
  return { state: { ...state, servers }, effects: [{ kind: 'ask', server, withEdns, timeout }], timeout };
}

/** Milliseconds from asking a server to asking the next one. */
function computeFailoverDelay(
  roundTrip: ServerView['roundTrip'] | undefined,
  { failover }: QueryStateContext,
): number | undefined {
  return failover === undefined ? roundTrip?.usualTimeout() : roundTrip?.failoverDelay(failover);
}

function giveUp(state: Asking): Move {
  if (state.kept !== 'nothing') return finish('kept');
  // `network` if no query can still get a reply: the network has refused all of them.
  return finish(state.servers.every(({ pending }) => pending === 0) ? 'network' : 'timeout');
}

function finish(outcome: Extract<QueryStateEffect, { readonly kind: 'finish' }>['outcome']): Move {
  return { state: DONE, effects: [{ kind: 'finish', outcome }] };
}
