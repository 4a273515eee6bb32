/**
 * What a question has had of each server of its group, and which server it is to ask next.
 */

/** What a question has had of one server. Times are of the clock's monotonic time. */
export interface ServerUse {
  /** Queries sent; of them those under way; of these those that are overdue. */
  readonly queries: number;
  readonly pending: number;
  readonly overdue: number;
  /** When it was asked first and last, and before when it is not asked again. */
  readonly askedAt: number;
  readonly sentAt: number;
  readonly nextAt: number;
  /** Before when no later server is asked, where their order has a meaning. */
  readonly failoverAt: number;
  /** Queries with EDNS that were overdue. */
  readonly silences: number;
  /** Whether its last query was refused by the network, which costs the server nothing. */
  readonly isRefused: boolean;
  /** Whether it has answered badly or cannot be reached at all: it is not asked again. */
  readonly isSpent: boolean;
}

/** What is known of a server, whatever the question. */
export interface ServerView {
  readonly isDown: boolean;
  /** Milliseconds for which it is still asked although the network refuses it; 0: it has been refusing for too long. */
  refusalPatience(): number;
  /** Milliseconds that it is given for the next query of a question, after so many; and in which it usually replies if it does. */
  readonly roundTrip: { timeout(queries: number): number; usualTimeout(): number };
  /** Whether it is to be asked with EDNS, and whether it is known to answer such queries. */
  readonly usesEdns: boolean;
  readonly knowsEdns: boolean;
  /** Milliseconds until its rate allows another query; 0 if it allows one at once. */
  paceDelay(): number;
}

/** The servers in the order in which they are to be asked, as they are now. */
export interface ServerViews {
  readonly now: number;
  readonly servers: readonly ServerView[];
  /** Where the order has a meaning: milliseconds that a server has before the next one is asked; undefined: it has none. */
  readonly failover: number | undefined;
}

/** Queries of a question that may always be sent: the second one makes up for a lost packet. */
const FREE_QUERIES = 2;

/** Queries with EDNS that must stay without a reply before one without EDNS is tried. */
const SILENCES_WITH_EDNS = 2;
/** The same where EDNS is known to work: a firewall may still drop what is large. */
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

/** The server that was asked least, of those that may be asked now; -1 if there is none. */
export function pickServer(uses: readonly ServerUse[], views: ServerViews): number {
  let best = -1;
  let min = Number.POSITIVE_INFINITY;
  // Done for every question: an iterator of entries takes its time.
  for (let index = 0; index < uses.length; index += 1) {
    const { queries } = uses[index] ?? UNASKED;
    if (queries >= min || delayOf(uses, index, views) > 0) continue;
    best = index;
    min = queries;
  }
  return best;
}

/** Milliseconds until a server may be asked; infinite where none may. */
export function delayUntilNext(uses: readonly ServerUse[], views: ServerViews): number {
  return uses.reduce((min, _, index) => Math.min(min, delayOf(uses, index, views)), Number.POSITIVE_INFINITY);
}

/** Milliseconds until this server may be asked. One that is down is not, as long as there is a better one. */
function delayOf(uses: readonly ServerUse[], index: number, views: ServerViews): number {
  const { isSpent, nextAt } = uses[index] ?? UNASKED;
  const view = views.servers[index];
  if (isSpent || view === undefined) return Number.POSITIVE_INFINITY;
  const hasBetter = view.isDown && uses.some((use, other) => !use.isSpent && !isDown(other, views));
  if (hasBetter) return Number.POSITIVE_INFINITY;
  return Math.max(nextAt - views.now, view.paceDelay(), delayByOrder(uses, index, views));
}

/** Milliseconds that the servers before this one still have to reply, where their order has a meaning. */
function delayByOrder(uses: readonly ServerUse[], index: number, views: ServerViews): number {
  if (views.failover === undefined || index === 0 || uses[index]?.queries !== 0) return 0;
  return uses.reduce((max, { queries, failoverAt, isSpent, isRefused }, other) => {
    const isAwaited = other < index && queries > 0 && !isSpent && !isRefused && !isDown(other, views);
    return isAwaited ? Math.max(max, failoverAt - views.now) : max;
  }, 0);
}

/** Milliseconds until the order lets a server be asked that was not; infinite where that is not what it waits for. */
export function delayUntilFailover(uses: readonly ServerUse[], views: ServerViews): number {
  return uses.reduce(
    (min, { queries }, index) => (queries === 0 ? Math.min(min, delayOf(uses, index, views)) : min),
    Number.POSITIVE_INFINITY,
  );
}

/** The same uses, with each server ready to be asked again once its usual time is over: a client has asked again. */
export function impatiently(uses: readonly ServerUse[], { servers }: ServerViews): readonly ServerUse[] {
  return uses.map((use, index) => {
    const isAwaited = use.queries > 0 && !use.isRefused;
    const usual = servers[index]?.roundTrip.usualTimeout() ?? 0;
    return isAwaited ? { ...use, nextAt: Math.min(use.nextAt, use.sentAt + usual) } : use;
  });
}

/** Whether the network has refused every server that is left, and for too long to be a restart. */
export function isRefusedForLong(uses: readonly ServerUse[], { servers }: ServerViews): boolean {
  return uses.every(
    ({ isSpent, isRefused, pending }, index) =>
      isSpent || (isRefused && pending === 0 && servers[index]?.refusalPatience() === 0),
  );
}

export function countQueries(uses: readonly ServerUse[]): number {
  return uses.reduce((sum, { queries }) => sum + queries, 0);
}

export function isDown(index: number, { servers }: ServerViews): boolean {
  return servers[index]?.isDown === true;
}

/** Whether a query needs no budget: it is one of the first two, or adds no load to a server that may only be slow. */
export function needsNoBudget(uses: readonly ServerUse[], index: number, views: ServerViews): boolean {
  const use = uses[index] ?? UNASKED;
  if (use.isRefused || countQueries(uses) < FREE_QUERIES) return true;
  // It was not asked for the time that the order gives those before it.
  if (use.queries === 0 && views.failover !== undefined) return true;
  if (use.queries > 0) return uses.every((_, other) => isDown(other, views));
  return uses.every(
    ({ queries, isSpent, isRefused }, other) => queries === 0 || isSpent || isRefused || isDown(other, views),
  );
}

export function usesEdns(uses: readonly ServerUse[], index: number, { servers }: ServerViews): boolean {
  const { silences } = uses[index] ?? UNASKED;
  const view = servers[index];
  if (view?.usesEdns !== true) return false;
  return silences < SILENCES_WITH_EDNS || (silences < SILENCES_WITH_KNOWN_EDNS && view.knowsEdns);
}

/** One query of a server is no longer under way. */
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
