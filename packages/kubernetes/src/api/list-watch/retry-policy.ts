/**
 * Decides what a watch does after each outcome: the next step, the API version, and the wait before it.
 *
 * One pure function holds the whole policy. It draws no random numbers: a wait is a range, from which the caller draws,
 * so that thousands of clients of one API server do not retry at once.
 */
import type { Failure, WaitingKind } from './failure.ts';
import type { ListWatchTiming } from './timing.ts';

/** The action of the next attempt. */
export type Step =
  /** Lists: any version of the watch cache (`0`), at least the version that was reached, or the latest. */
  | { readonly kind: 'list'; readonly from: 'cache' | 'reached' | 'latest' }
  /** Lists and watches in one stream (KEP-3157). */
  | { readonly kind: 'stream' }
  /** Watches from the version that was reached. */
  | { readonly kind: 'watch' };

export type Refusal = Extract<Failure, { readonly kind: WaitingKind }>;

export interface RetryMemory {
  /** The API version in use, as an index: 0 is the best. */
  readonly version: number;
  /** Whether this version was listed completely. Only then are refusals tolerated. */
  readonly isEstablished: boolean;
  readonly step: Step;
  /** How the next list is made if it is not streamed. */
  readonly listFrom: 'cache' | 'reached' | 'latest';
  /** Whether a list broke off since the last whole one: lists then come in pages, which go on after an interruption. */
  readonly isBroken: boolean;
  /** Consecutive lists that were not as of one version. */
  readonly mixed: number;
  /** Consecutive failures that cost the server work: the exponent of the back-off. */
  readonly failures: number;
  /** Consecutive refusals (403, 404) of this version. */
  readonly refusals: number;
  /** Of the refusals of better versions, the one to report. */
  readonly refusal: Refusal | undefined;
  /** When the server refused a streamed list, in milliseconds of the monotonic clock. */
  readonly streamRefusedAt: number | undefined;
}

export type Outcome =
  /** All objects of the kind have arrived. */
  | { readonly kind: 'listed' }
  /** All have arrived, but as of several versions: changes may be missing. */
  | { readonly kind: 'mixed' }
  /** The server sent an event or a bookmark. */
  | { readonly kind: 'proven' }
  /** The server ended the watch normally, or it is opened again for doubt. */
  | { readonly kind: 'ended' }
  /** A better API version is served and allowed. */
  | { readonly kind: 'better-version'; readonly version: number }
  | {
      readonly kind: 'failed';
      readonly failure: Exclude<Failure, { readonly kind: 'stopped' }>;
      /** How long the watch had been open, in milliseconds. */
      readonly watched: number;
      /** How many pages of a list came before. */
      readonly pages: number;
    };

/** Constants of a watch. */
export interface RetrySettings {
  readonly timing: ListWatchTiming;
  /** The number of API versions. */
  readonly versions: number;
  /** Whether only one object is followed, which is read again after each watch. */
  readonly isSingle: boolean;
}

export interface Range {
  readonly min: number;
  readonly max: number;
}

export interface Retry {
  readonly memory: RetryMemory;
  /** Milliseconds to wait. */
  readonly wait: Range;
  /** Why the kind cannot be followed now. Undefined: it can. */
  readonly reason?: Refusal;
  /** A worse API version is used from now on because of this refusal. */
  readonly downgrade?: Refusal;
}

/** Consecutive refusals tolerated from an API version that has worked: half a minute with the back-off. */
const MAX_REFUSALS = 5;
/** A server that has just started forbids everything for some 100 ms: try a second time. */
const MAX_FIRST_REFUSALS = 2;
const FIRST_REFUSAL_WAIT: Range = { min: 200, max: 600 };
const NO_WAIT: Range = { min: 0, max: 0 };

export const firstTry: RetryMemory = {
  version: 0,
  isEstablished: false,
  step: { kind: 'stream' },
  listFrom: 'cache',
  isBroken: false,
  mixed: 0,
  failures: 0,
  refusals: 0,
  refusal: undefined,
  streamRefusedAt: undefined,
};

/** @param now milliseconds of the monotonic clock */
export function decideRetry(
  memory: RetryMemory,
  outcome: Outcome,
  now: number,
  settings: RetrySettings,
): Retry {
  switch (outcome.kind) {
    case 'listed':
      return goOn({ ...established(memory), step: WATCH, isBroken: false, mixed: 0 });
    case 'mixed': {
      const next = { ...established(memory), ...IN_PAGES, mixed: memory.mixed + 1 };
      const { relistSpread } = settings.timing;
      // As after 410: the first time is normal.
      const wait =
        memory.mixed === 0 ? { min: 0, max: relistSpread } : backOff(memory.mixed, settings.timing);
      return { memory: next, wait };
    }
    case 'proven':
      return goOn({ ...memory, failures: 0, refusals: 0 });
    case 'ended': {
      const proven = { ...memory, failures: 0, refusals: 0 };
      return goOn(settings.isSingle ? listing(proven, 'cache', now, settings) : proven);
    }
    case 'better-version':
      return goOn(listing(inVersion(memory, outcome.version), 'cache', now, settings));
    case 'failed': {
      const stood = outcome.watched > settings.timing.provenWatch;
      const progressed = outcome.pages > 0 && outcome.failure.kind === 'network';
      const before = stood || progressed ? { ...memory, failures: 0, refusals: 0 } : memory;
      return afterFailure(before, outcome.failure, now, settings);
    }
  }
}

function afterFailure(
  memory: RetryMemory,
  failure: Exclude<Failure, { readonly kind: 'stopped' }>,
  now: number,
  settings: RetrySettings,
): Retry {
  const { timing } = settings;
  const failed = { ...memory, failures: memory.failures + 1 };
  switch (failure.kind) {
    case 'unreachable':
      return { memory, wait: around(timing.reconnect), reason: failure };
    case 'no-watch-list':
      return goOn({ ...memory, step: list(memory.listFrom), streamRefusedAt: now });
    case 'expired': {
      const from = failure.why === 'too-old' && memory.step.kind === 'watch' ? 'reached' : 'latest';
      const next = listing(failed, from, now, settings);
      // The first time is normal; if it repeats, back off.
      if (memory.failures === 0) return { memory: next, wait: { min: 0, max: timing.relistSpread } };
      return { memory: next, wait: backOff(memory.failures, timing), reason: asServer(failure.words) };
    }
    case 'unexpected': {
      const next = listing(failed, 'latest', now, settings);
      const wait = backOff(memory.failures, timing);
      return { memory: next, wait, reason: asServer(failure.words) };
    }
    case 'network': {
      const wait = backOff(memory.failures, timing);
      const isListing = memory.step.kind !== 'watch' && !settings.isSingle;
      return { memory: isListing ? { ...failed, ...IN_PAGES } : failed, wait, reason: failure };
    }
    case 'permission':
    case 'missing-kind':
      return afterRefusal(memory, failure, now, settings);
    default: {
      const wait = atLeast(failure.retryAfter, memory.failures, timing);
      // Kubernetes 1.34 over etcd 3.4 never begins a watch without a version: the object is read at each try.
      const next = settings.isSingle ? listing(failed, 'cache', now, settings) : failed;
      return { memory: next, wait, reason: failure };
    }
  }
}

function afterRefusal(memory: RetryMemory, failure: Refusal, now: number, settings: RetrySettings): Retry {
  const { timing, versions } = settings;
  const refusals = memory.refusals + 1;
  const hasNext = memory.version + 1 < versions;
  const isFinal = memory.isEstablished ? refusals >= MAX_REFUSALS : !mayBeStarting(memory, failure);
  if (!isFinal || (memory.isEstablished && !hasNext)) {
    const isFirst = !memory.isEstablished && hasNext;
    const wait = isFirst ? FIRST_REFUSAL_WAIT : backOff(memory.refusals, timing);
    return { memory: { ...memory, refusals }, wait, reason: failure };
  }
  // Report a missing permission rather than a missing kind: an operator can grant it.
  const worst = memory.refusal?.kind === 'permission' ? memory.refusal : failure;
  if (hasNext) {
    const next = { ...inVersion(memory, memory.version + 1), refusal: worst };
    return { memory: listing(next, 'cache', now, settings), wait: NO_WAIT, downgrade: failure };
  }
  const failed = { ...inVersion(memory, 0), failures: memory.failures + 1 };
  const again = listing(failed, 'cache', now, settings);
  return { memory: again, wait: backOff(memory.failures, timing), reason: worst };
}

/** Whether the server may not have loaded its roles yet. Considered only for the best version. */
function mayBeStarting({ version, refusals }: RetryMemory, failure: Refusal): boolean {
  return version === 0 && failure.kind === 'permission' && refusals + 1 < MAX_FIRST_REFUSALS;
}

const WATCH: Step = { kind: 'watch' };

const list = (from: RetryMemory['listFrom']): Step => ({ kind: 'list', from });

/** The next list comes in pages, which go on from where they broke off. */
const IN_PAGES = { isBroken: true, listFrom: 'latest', step: list('latest') } as const;

function established(memory: RetryMemory): RetryMemory {
  return { ...memory, isEstablished: true, refusals: 0, refusal: undefined };
}

/** Lists all objects next, by a stream unless the server refused one recently. */
function listing(
  memory: RetryMemory,
  listFrom: RetryMemory['listFrom'],
  now: number,
  { timing }: RetrySettings,
): RetryMemory {
  if (memory.isBroken) return { ...memory, ...IN_PAGES };
  const { streamRefusedAt } = memory;
  const isRefused = streamRefusedAt !== undefined && now - streamRefusedAt < timing.streamRetry;
  return { ...memory, listFrom, step: isRefused ? list(listFrom) : { kind: 'stream' } };
}

function inVersion(memory: RetryMemory, version: number): RetryMemory {
  return { ...memory, version, isEstablished: false, refusals: 0, refusal: undefined };
}

function goOn(memory: RetryMemory): Retry {
  return { memory, wait: NO_WAIT };
}

function asServer(words: string): Refusal {
  return { kind: 'server', words };
}

/** From half to one and a half of the mean: spread from the first try on. */
function around(mean: number): Range {
  return { min: mean / 2, max: mean * 1.5 };
}

function backOff(failures: number, { minBackOff, maxBackOff }: ListWatchTiming): Range {
  const mean = Math.min(minBackOff * 2 ** failures, maxBackOff / 1.5);
  return around(mean);
}

/** All clients get the same Retry-After: spread them over half as long again. */
function atLeast(retryAfter: number | undefined, failures: number, timing: ListWatchTiming): Range {
  const { min, max } = backOff(failures, timing);
  const asked = Math.min(retryAfter ?? 0, timing.maxRetryAfter);
  return { min: Math.max(min, asked), max: Math.max(max, asked * 1.5) };
}
