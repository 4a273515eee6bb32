/**
 * The history of a question with each server of its group, and the choice of the server to ask next.
 */
import type { RetryPolicy } from './forward-plan.ts';

/** The history of a question with one server. Times are by the clock's monotonic time. */
export interface ServerUse {
  /** Queries sent; queries in flight; queries in flight that are overdue. */
  readonly queries: number;
  readonly pending: number;
  readonly overdue: number;
  /** When it was first and last asked, and the earliest time to ask it again. */
  readonly askedAt: number;
  readonly sentAt: number;
  readonly nextAt: number;
  /** The earliest time to ask a later server, if the order is binding. */
  readonly failoverAt: number;
  /** Queries with EDNS that were overdue. */
  readonly silences: number;
  /** Whether the network refused its last query, which put no load on the server. */
  readonly isRefused: boolean;
  /** Whether it has answered badly or is unreachable: it is not asked again. */
  readonly isSpent: boolean;
}

/** The state of a server, independent of the question. */
export interface ServerView {
  readonly isDown: boolean;
  /** Milliseconds for which it is still asked although the network refuses it; 0: it has been refusing for too long. */
  refusalPatience(): number;
  /** Milliseconds: the time-out for the next query of a question, after a number of queries; the time of usual replies; see `RoundTrip`. */
  readonly roundTrip: {
    timeout(queries: number): number;
    usualTimeout(): number;
    failoverDelay(min: number): number;
  };
  /** Whether to ask it with EDNS, and whether it is known to answer such queries. */
  usesEdns(dnssecOk: boolean): boolean;
  readonly knowsEdns: boolean;
  /** Milliseconds until its rate limit allows another query; 0: now. */
  paceDelay(): number;
}

/** The current state of the servers, in order. */
export interface ServerViews {
  readonly now: number;
  readonly retry: RetryPolicy;
  readonly servers: readonly ServerView[];
  /** Whether the question has DO: then an answer without EDNS is not whole. */
  readonly dnssecOk: boolean;
  /** If the order is binding, milliseconds from asking a server to asking the next; undefined: the order is not binding. */
  readonly failover: number | undefined;
}

/** Queries of a question without a budget: the second one makes up for a lost packet. */
const FREE_QUERIES = 2;

/** Queries with EDNS without a reply before one without EDNS is tried. */
const SILENCES_WITH_EDNS = 1;
/** The same for questions with DO. */
const SILENCES_WITH_DNSSEC = 2;
/** The same if EDNS is known to work: a firewall may still drop large packets. */
const SILENCES_WITH_KNOWN_EDNS = 4;

export const UNASKED: ServerUse = {
  queries: 0,
  pending: 0,
  overdue: 0,
  askedAt: 0,
  sentAt: 0,
  nextAt: 0,
  failoverAt: 0,
  silences: 0,
  isRefused: false,
  isSpent: false,
};

/** The server with the fewest queries among those that may be asked now; -1 if there is none. */
export function pickServer(uses: readonly ServerUse[], views: ServerViews): number {
  let best = -1;
  let min = Number.POSITIVE_INFINITY;
  // Runs for every question: an iterator of entries is slow.
  for (let index = 0; index < uses.length; index += 1) {
    const { queries } = uses[index] ?? UNASKED;
    if (queries >= min || computeDelay(uses, index, views) > 0) continue;
    best = index;
    min = queries;
  }
  return best;
}

/** Milliseconds until any server may be asked; infinite if never. */
export function delayUntilNext(uses: readonly ServerUse[], views: ServerViews): number {
  return uses.reduce(
    (min, _, index) => Math.min(min, computeDelay(uses, index, views)),
    Number.POSITIVE_INFINITY,
  );
}

/** Milliseconds until this server may be asked. A server that is down must wait while a better one exists. */
function computeDelay(uses: readonly ServerUse[], index: number, views: ServerViews): number {
  const { isSpent, nextAt } = uses[index] ?? UNASKED;
  const view = views.servers[index];
  if (isSpent || view === undefined) return Number.POSITIVE_INFINITY;
  const hasBetter = view.isDown && uses.some((use, other) => !use.isSpent && !isDown(other, views));
  if (hasBetter) return Number.POSITIVE_INFINITY;
  return Math.max(nextAt - views.now, view.paceDelay(), delayByOrder(uses, index, views));
}

/** Milliseconds that earlier servers still have to reply, if the order is binding. */
function delayByOrder(uses: readonly ServerUse[], index: number, views: ServerViews): number {
  if (views.failover === undefined || index === 0 || uses[index]?.queries !== 0) return 0;
  return uses.reduce((max, { queries, failoverAt, isSpent, isRefused }, other) => {
    const isAwaited = other < index && queries > 0 && !isSpent && !isRefused && !isDown(other, views);
    return isAwaited ? Math.max(max, failoverAt - views.now) : max;
  }, 0);
}

/** Milliseconds until a server without queries may be asked; infinite if there is none. */
export function delayUntilUnasked(uses: readonly ServerUse[], views: ServerViews): number {
  return uses.reduce(
    (min, { queries }, index) => (queries === 0 ? Math.min(min, computeDelay(uses, index, views)) : min),
    Number.POSITIVE_INFINITY,
  );
}

/** The same, but those already asked have their usual time to reply even if the order is not binding. */
export function delayUntilFailover(uses: readonly ServerUse[], views: ServerViews): number {
  const wait = uses.reduce(
    (max, { queries, failoverAt, isSpent, isRefused }) =>
      queries > 0 && !isSpent && !isRefused ? Math.max(max, failoverAt - views.now) : max,
    0,
  );
  return Math.max(wait, delayUntilUnasked(uses, views));
}

/** The same uses after a client has repeated its question: each server is due again once its usual time is over. */
export function impatiently(uses: readonly ServerUse[], { servers }: ServerViews): readonly ServerUse[] {
  return uses.map((use, index) => {
    const isAwaited = use.queries > 0 && !use.isRefused;
    const usual = servers[index]?.roundTrip.usualTimeout() ?? 0;
    return isAwaited ? { ...use, nextAt: Math.min(use.nextAt, use.sentAt + usual) } : use;
  });
}

/** Whether the network has refused all remaining servers for longer than a restart takes. */
export function isRefusedForLong(uses: readonly ServerUse[], { servers }: ServerViews): boolean {
  return uses.every(
    ({ isSpent, isRefused, pending }, index) =>
      isSpent || (isRefused && pending === 0 && servers[index]?.refusalPatience() === 0),
  );
}

export function countQueries(uses: readonly ServerUse[]): number {
  return uses.reduce((sum, { queries }) => sum + queries, 0);
}

/** The same without those that a server has answered, though not well enough. */
export function countFailed(uses: readonly ServerUse[]): number {
  return uses.reduce((sum, { queries, isSpent }) => sum + (isSpent ? 0 : queries), 0);
}

export function isDown(index: number, { servers }: ServerViews): boolean {
  return servers[index]?.isDown === true;
}

/** Whether a query needs no budget: it is one of the first two, or adds no load to a server that may only be slow. */
export function needsNoBudget(uses: readonly ServerUse[], index: number, views: ServerViews): boolean {
  const use = uses[index] ?? UNASKED;
  // `attempts` bounds them.
  if (views.retry.trigger === 'failure') return true;
  if (use.isRefused || countQueries(uses) < FREE_QUERIES) return true;
  // A new server in a binding order: earlier ones have had their time.
  if (use.queries === 0 && views.failover !== undefined) return true;
  if (use.queries > 0) return uses.every((_, other) => isDown(other, views));
  return uses.every(
    ({ queries, isSpent, isRefused }, other) => queries === 0 || isSpent || isRefused || isDown(other, views),
  );
}

export function usesEdns(
  uses: readonly ServerUse[],
  index: number,
  { servers, dnssecOk }: ServerViews,
): boolean {
  const { silences } = uses[index] ?? UNASKED;
  const view = servers[index];
  if (view?.usesEdns(dnssecOk) !== true) return false;
  const patience = dnssecOk ? SILENCES_WITH_DNSSEC : SILENCES_WITH_EDNS;
  return silences < patience || (silences < SILENCES_WITH_KNOWN_EDNS && view.knowsEdns);
}

/** A query of a server is not in flight any more. */
export function settleQuery(
  uses: readonly ServerUse[],
  { server, isOverdue }: { readonly server: number; readonly isOverdue: boolean },
): readonly ServerUse[] {
  const use = uses[server] ?? UNASKED;
  return changeUse(uses, server, {
    pending: use.pending - 1,
    overdue: use.overdue - (isOverdue ? 1 : 0),
  });
}

export function changeUse(
  uses: readonly ServerUse[],
  server: number,
  changes: Partial<ServerUse>,
): readonly ServerUse[] {
  const changed = uses.slice();
  const use = uses[server];
  if (use !== undefined) changed[server] = { ...use, ...changes };
  return changed;
}
