/**
 * Options of the cache and of TTLs.
 */
import type { DnsmasqDraft } from './draft.ts';
import { readNumber, SECONDS } from './numbers.ts';
import { flag, type Option, type OptionUse, repeatable, single } from './option.ts';
import { readTypes } from './record-types.ts';

/** dnsmasq clamps larger values to these limits. */
const MAX_ENTRIES = 5_000_000;
const MAX_MIN_TTL = 3600;

const ENTRIES = { ...SECONDS, of: 'a number of entries' };

type TtlField = 'negativeTtl' | 'maxTtl' | 'maxCacheTtl';

const ttlOptions: readonly Option[] = [
  ttl('neg-ttl', 'Cache negative replies without SOA for this long', 'negativeTtl'),
  ttl('max-ttl', 'Tell clients no longer TTL than this', 'maxTtl'),
  ttl('max-cache-ttl', 'Cache nothing for longer than this', 'maxCacheTtl'),
  single(
    'min-cache-ttl',
    { shows: '=<seconds>', means: 'Cache nothing for less than this' },
    (use, value) => {
      const seconds = readNumber(use, value, SECONDS);
      if (seconds === undefined) return;
      if (seconds > MAX_MIN_TTL) use.note(`No more than ${MAX_MIN_TTL} seconds are used, as in dnsmasq.`);
      use.draft.cache.minCacheTtl = Math.min(seconds, MAX_MIN_TTL);
    },
  ),
  single('local-ttl', { short: 'T', shows: '=<seconds>', means: 'TTL of local data' }, (use, value) => {
    use.draft.hosts.ttl = readNumber(use, value, SECONDS) ?? use.draft.hosts.ttl;
  }),
];

export const cacheOptions: readonly Option[] = [
  single(
    'cache-size',
    { short: 'c', takes: 'optional', shows: '=<entries>', means: 'Size of the cache; 0 turns it off' },
    readCacheSize,
  ),
  flag('no-negcache', { short: 'N', means: 'Cache no negative replies' }, (draft) => {
    draft.cache.negatives = false;
  }),
  ...ttlOptions,
  {
    name: 'use-stale-cache',
    takes: 'optional',
    repeats: 'once',
    shows: '[=<seconds>]',
    means: 'Answer from expired entries while they are refreshed',
    standing: { kind: 'works', apply: readStale },
  },
  repeatable(
    'cache-rr',
    { shows: '=<type>[,...]', means: 'Cache records of these types too' },
    (use, value) => {
      use.draft.cache.moreTypes.push(...readTypes(use, value));
    },
  ),
  flag(
    'clear-on-reload',
    { means: 'Clear the cache when upstream servers change' },
    ({ cache }: DnsmasqDraft) => {
      cache.clearsOnReload = true;
    },
  ),
  flag('no-round-robin', { means: 'Keep the order of addresses in answers' }, ({ cache }: DnsmasqDraft) => {
    cache.rotatesAddresses = false;
  }),
];

function ttl(name: string, means: string, field: TtlField): Option {
  return single(name, { shows: '=<seconds>', means }, (use, value) => {
    use.draft.cache[field] = readNumber(use, value, SECONDS) ?? use.draft.cache[field];
  });
}

function readCacheSize(use: OptionUse): void {
  const size = readNumber(use, use.value, ENTRIES);
  if (size === undefined) return;
  if (size > MAX_ENTRIES) use.note(`No more than ${MAX_ENTRIES} entries are kept, as in dnsmasq.`);
  use.draft.cache.size = Math.min(size, MAX_ENTRIES);
}

/** One day if no value is given; 0 means forever. */
function readStale(use: OptionUse): void {
  const seconds = use.value === undefined ? 86_400 : readNumber(use, use.value, SECONDS);
  if (seconds !== undefined) use.draft.cache.stale = seconds === 0 ? 'forever' : seconds;
}
