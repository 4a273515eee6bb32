/**
 * `cache`: how answers are cached.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { type Draft, zonesOrBlock } from '@portolan/corefile/directive/directive.ts';
import type { DirectiveCursor } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseGoDuration, parseInteger } from '@portolan/corefile/directive/go-values.ts';
import { parseZones } from '@portolan/corefile/keys/zone-name.ts';
import { ROOT } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { type Chain, rotateAddresses } from '@portolan/kernel/chain/handler.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';
import { ofKind } from '@portolan/kernel/contract/plugin.ts';
import { ANSWER_TABLE, BLOCK, FORWARDING, PLAN } from '@portolan/kernel/contract/services.ts';
import { Cache } from './cache.ts';
import type {
  CacheLimits,
  CachePrefetch,
  CacheRules,
  CacheServeStale,
  CoreDnsCacheRules,
} from './options.ts';

const DEFAULT_CAPACITY = 9984;
const SUCCESS: CacheLimits = { capacity: DEFAULT_CAPACITY, maxTtl: 3600, minTtl: 5 };
const DENIAL: CacheLimits = { capacity: DEFAULT_CAPACITY, maxTtl: 1800, minTtl: 5 };
const MAX_SERVFAIL = 300_000;
const MAX_RECHECK = 300_000;
const DURATION_REMEDY = 'Give a duration such as 30s or 1h.';

/** The properties, and their ranges and defaults, are those of plugin/cache of CoreDNS 1.14.7. */
export const cache = definePlugin({
  name: 'cache',
  syntax: [
    'cache [TTL] [ZONES…] {',
    '    success CAPACITY [TTL] [MINTTL]',
    '    denial CAPACITY [TTL] [MINTTL]',
    '    prefetch AMOUNT [DURATION] [PERCENTAGE%]',
    '    serve_stale [DURATION] [immediate [TTL] [RECHECK] | verify [TIMEOUT] [TTL] [RECHECK]]',
    '    serve_stale_policy prefer_positive',
    '    servfail DURATION',
    '    disable success|denial [ZONES…]',
    '    keepttl',
    '}',
  ],
  read(cursor, context): CacheRules {
    const draft: Draft<CoreDnsCacheRules> = {
      kind: 'coredns',
      zones: context.zones,
      success: SUCCESS,
      denial: DENIAL,
      prefetch: undefined,
      serveStale: undefined,
      servfailTtl: 5000,
      uncachedSuccess: [],
      uncachedDenial: [],
      keepTtl: false,
    };
    cursor.onlyUse(() => {
      const words = cursor.remainingArguments();
      const ttl = parseInteger(words[0] ?? '');
      if (ttl.kind === 'good') {
        draft.success = { ...SUCCESS, maxTtl: positiveTtl(cursor, ttl.value) };
        draft.denial = { ...DENIAL, maxTtl: ttl.value };
      }
      draft.zones = zonesOrBlock(ttl.kind === 'good' ? words.slice(1) : words, context);
      readProperties(cursor, draft);
    });
    return draft;
  },
  // By rules of CoreDNS, the whole block decides which answers are cached.
  outlivesPlans: ({ kind }: CacheRules) => kind === 'own',
  create(rules: CacheRules, context, former) {
    const { chainBehind, handlers } = context.use(BLOCK);
    let behind: Chain | undefined;
    const dependencies = {
      ...context,
      ...context.use(PLAN),
      ...context.use(FORWARDING),
      table: context.use(ANSWER_TABLE),
      rotates: () => rotateAddresses(handlers()),
      // The block is complete when the first query comes.
      behind(query: Query) {
        behind ??= chainBehind('cache');
        return behind(query);
      },
    };
    return new Cache(rules, dependencies, ofKind(Cache, former));
  },
});

function readProperties(cursor: DirectiveCursor, draft: Draft<CoreDnsCacheRules>): void {
  let policies = 0;
  const known = {
    success: () => {
      draft.success = readLimits(cursor, draft.success);
    },
    denial: () => {
      draft.denial = readLimits(cursor, draft.denial);
    },
    prefetch: () => {
      draft.prefetch = readPrefetch(cursor, draft.prefetch);
    },
    serve_stale: () => {
      draft.serveStale = { ...readServeStale(cursor), prefersPositive: policies > 0 };
    },
    serve_stale_policy: () => {
      policies += 1;
      readStalePolicy(cursor, policies);
      if (draft.serveStale !== undefined) draft.serveStale = { ...draft.serveStale, prefersPositive: true };
    },
    servfail: () => {
      draft.servfailTtl = readServfail(cursor);
    },
    disable: () => {
      const { kind, zones } = readDisable(cursor);
      if (kind === 'success') draft.uncachedSuccess = zones;
      else draft.uncachedDenial = zones;
    },
    keepttl: () => {
      cursor.remainingBetween(0, 0);
      draft.keepTtl = true;
    },
  };
  cursor.properties(known, () => cursor.argumentError(`Known here: ${Object.keys(known).join(', ')}.`));
  if (policies > 0 && draft.serveStale === undefined)
    throw cursor.bareError(
      'serve_stale_policy requires serve_stale',
      'Add serve_stale, or take its policy out.',
    );
}

function positiveTtl(cursor: DirectiveCursor, ttl: number): number {
  if (ttl <= 0)
    throw cursor.bareError(
      `cache TTL can not be zero or negative: ${ttl}`,
      'Give seconds from 1. To cache nothing, take cache out; to leave a zone out, use disable.',
    );
  return ttl;
}

function readLimits(cursor: DirectiveCursor, before: CacheLimits): CacheLimits {
  const words = cursor.remainingArguments();
  if (words.length === 0)
    throw cursor.argumentError('Give the number of entries, then the maximum and the minimum TTL.');
  const [capacity = before.capacity, maxTtl = before.maxTtl, minTtl = before.minTtl] = words
    .slice(0, 3)
    .map((word) => cursor.bare(parseInteger(word), 'Give a whole number.'));
  positiveTtl(cursor, maxTtl);
  if (minTtl < 0)
    throw cursor.bareError(`cache min TTL can not be negative: ${minTtl}`, 'Give seconds from 0.');
  const isMinTtlGiven = words.length > 2 || before.isMinTtlGiven === true;
  return { capacity, maxTtl, minTtl, ...(isMinTtlGiven && { isMinTtlGiven }) };
}

function readPrefetch(cursor: DirectiveCursor, before: CachePrefetch | undefined): CachePrefetch | undefined {
  const [count = '', span, share] = cursor.remainingBetween(1, 3);
  const amount = cursor.bare(parseInteger(count), 'Give the number of queries that make a name popular.');
  if (amount < 0)
    throw cursor.bareError(
      `prefetch amount should be positive: ${amount}`,
      'Give the number of queries that make a name popular.',
    );
  const duration =
    span === undefined ? (before?.duration ?? 60_000) : cursor.bare(parseGoDuration(span), DURATION_REMEDY);
  const percentage = share === undefined ? (before?.percentage ?? 10) : readPercentage(cursor, share);
  return amount === 0 ? undefined : { amount, duration, percentage };
}

function readPercentage(cursor: DirectiveCursor, share: string): number {
  const remedy = 'Give a percentage from 10% to 90%.';
  if (!share.endsWith('%'))
    throw cursor.bareError(
      `last character of percentage should be \`%\`, but is: '${share.at(-1) ?? ''}'`,
      remedy,
    );
  const percentage = cursor.bare(parseInteger(share.slice(0, -1)), remedy);
  if (percentage < 10 || percentage > 90)
    throw cursor.bareError(`percentage should fall in range [10, 90]: ${percentage}`, remedy);
  return percentage;
}

function readServeStale(cursor: DirectiveCursor): Omit<CacheServeStale, 'prefersPositive'> {
  const [span = '1h', mode = 'immediate', ...times] = cursor.remainingBetween(0, 5);
  const duration = cursor.bare(parseGoDuration(span), DURATION_REMEDY);
  if (duration < 0) throw cursor.bareError('invalid negative duration for serve_stale', DURATION_REMEDY);
  const refresh = mode.toLowerCase();
  if (refresh !== 'immediate' && refresh !== 'verify')
    throw cursor.bareError(
      `invalid value for serve_stale refresh mode: ${refresh}`,
      'Give immediate or verify.',
    );
  if (refresh === 'immediate' && times.length > 2) throw cursor.argumentError();
  const timeout = refresh === 'verify' ? times[0] : undefined;
  const [ttl, recheck] = refresh === 'verify' ? times.slice(1) : times;
  return {
    duration,
    refresh,
    verifyTimeout: timeout === undefined ? undefined : readVerifyTimeout(cursor, timeout),
    ttl: ttl === undefined ? 0 : readStaleTtl(cursor, ttl),
    recheck: recheck === undefined ? 0 : readRecheck(cursor, recheck),
  };
}

function readVerifyTimeout(cursor: DirectiveCursor, text: string): number {
  const timeout = parseGoDuration(text);
  if (timeout.kind === 'bad')
    throw cursor.bareError(`invalid serve_stale verify timeout: ${timeout.fault}`, DURATION_REMEDY);
  if (timeout.value < 0)
    throw cursor.bareError('invalid negative timeout for serve_stale verify', DURATION_REMEDY);
  return timeout.value;
}

/** @returns seconds */
function readStaleTtl(cursor: DirectiveCursor, text: string): number {
  const ttl = parseGoDuration(text);
  const remedy = 'Give whole seconds, as in 30s.';
  if (ttl.kind === 'bad') throw cursor.bareError(`invalid serve_stale response TTL: ${ttl.fault}`, remedy);
  if (ttl.value < 0) throw cursor.bareError('invalid negative response TTL for serve_stale', remedy);
  if (ttl.value % 1000 !== 0)
    throw cursor.bareError('serve_stale response TTL must be a whole number of seconds', remedy);
  if (ttl.value / 1000 > 0xffff_ffff)
    throw cursor.bareError('serve_stale response TTL exceeds the DNS TTL range', remedy);
  return ttl.value / 1000;
}

function readRecheck(cursor: DirectiveCursor, text: string): number {
  const recheck = parseGoDuration(text);
  const remedy = 'Give a duration of at most 5m.';
  if (recheck.kind === 'bad')
    throw cursor.bareError(`invalid serve_stale failure recheck: ${recheck.fault}`, remedy);
  if (recheck.value < 0) throw cursor.bareError('invalid negative failure recheck for serve_stale', remedy);
  if (recheck.value > MAX_RECHECK)
    throw cursor.bareError('serve_stale failure recheck cannot exceed 5 minutes', remedy);
  return recheck.value;
}

function readStalePolicy(cursor: DirectiveCursor, count: number): void {
  if (count > 1)
    throw cursor.bareError('serve_stale_policy can only be specified once', 'Take one of the two lines out.');
  const [policy = ''] = cursor.remainingBetween(1, 1);
  if (policy.toLowerCase() !== 'prefer_positive')
    throw cursor.bareError(`invalid serve_stale_policy: ${policy}`, 'The only policy is prefer_positive.');
}

function readServfail(cursor: DirectiveCursor): number {
  const [text = ''] = cursor.remainingBetween(1, 1);
  const remedy = 'Give a duration from 0s, which is off, to 5m.';
  const duration = cursor.bare(parseGoDuration(text), remedy);
  if (duration < 0) throw cursor.bareError('invalid negative ttl for servfail', remedy);
  if (duration > MAX_SERVFAIL)
    throw cursor.bareError('caching SERVFAIL responses over 5 minutes is not permitted', remedy);
  return duration;
}

function readDisable(cursor: DirectiveCursor): { kind: 'success' | 'denial'; zones: readonly NameKey[] } {
  const [kind, ...words] = cursor.remainingArguments();
  if (kind === undefined) throw cursor.argumentError('Name success or denial, then the zones.');
  if (kind !== 'success' && kind !== 'denial')
    throw cursor.bareError('cache type for disable must be "success" or "denial"', 'Give one of the two.');
  return { kind, zones: words.length === 0 ? [ROOT] : parseZones(words) };
}
