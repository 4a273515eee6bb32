/**
 * Whether a reply may be cached, and for how long.
 *
 * Positive: the lowest TTL of the answer section (its CNAME chain included). Negative: by the SOA record (RFC 2308
 * section 5); without one, negative answers are cached only if a time for them is configured. Failures: RFC 9520.
 */
import { typeOfData } from '@portolan/dns/record-data.ts';
import { CLASS, type Message, type Question, RCODE, type ResourceRecord, TYPE } from '@portolan/dns/types.ts';

/** Seconds throughout; undefined: unbounded. The names are those of dnsmasq's options. */
export interface CachingRules {
  /** Lower TTLs are raised to it, but at most to an hour. It wins over `maxCacheTtl`, as in dnsmasq. */
  readonly minCacheTtl: number;
  readonly maxCacheTtl: number | undefined;
  /** For negative answers without SOA. */
  readonly negTtl: number | undefined;
  readonly negativeCaching: boolean;
  /** Maximum for negative answers: the name may be created at any moment. */
  readonly maxNegativeTtl: number | undefined;
  /** For SERVFAIL, 0 to 5. */
  readonly failureTtl: number;
}

/** The rules of `serve`. TTLs above a day are usually mistakes, and outlive address changes. */
export const SERVE_CACHING: CachingRules = {
  minCacheTtl: 0,
  maxCacheTtl: 86_400,
  negTtl: undefined,
  negativeCaching: true,
  maxNegativeTtl: 5,
  failureTtl: 5,
};

/** dnsmasq's rules without options. */
export const DNSMASQ_CACHING: CachingRules = {
  ...SERVE_CACHING,
  maxCacheTtl: undefined,
  maxNegativeTtl: undefined,
  failureTtl: 0,
};

/** A reply that may be cached, and its lifetime in seconds, from 1. */
export interface CachedFor {
  readonly kind: 'positive' | 'negative' | 'failure';
  readonly seconds: number;
}

export type Keeping = CachedFor | { readonly kind: 'never'; readonly reason: string };

const MAX_MIN_CACHE_TTL = 3600;
/** RFC 9520 section 3.2 asks for 1 s to 5 minutes; we retry failed names sooner. */
const MAX_FAILURE_TTL = 5;

function clampTtl(ttl: number, { minCacheTtl, maxCacheTtl }: CachingRules): number {
  const bounded = Math.min(ttl, maxCacheTtl ?? ttl);
  return Math.max(bounded, Math.min(minCacheTtl, MAX_MIN_CACHE_TTL));
}

/** @param message a reply to the question, without foreign records */
export function judgeKeeping(question: Question, message: Message, rules: CachingRules): Keeping {
  const { header, edns } = message;
  if (header.truncated) return never('it is truncated');
  if (question.class !== CLASS.IN) return never('its class is not IN');
  if (isMetaType(question.type)) return never('its type stands for others');
  if ((edns?.extendedRcode ?? 0) !== 0) return never('its response code needs EDNS');
  switch (header.rcode) {
    case RCODE.NOERROR:
      return hasAnswer(question, message) ? judgePositive(message, rules) : judgeNegative(message, rules);
    case RCODE.NXDOMAIN:
      return judgeNegative(message, rules);
    case RCODE.SERVFAIL:
      return keep('failure', Math.min(rules.failureTtl, MAX_FAILURE_TTL));
    default:
      return never('its response code is about the query, not the name');
  }
}

/** OPT, and the types from TKEY to ANY (RFC 6895 section 3.1). */
function isMetaType(type: number): boolean {
  return type === TYPE.OPT || (type >= 128 && type <= 255);
}

function hasAnswer({ type }: Question, { answers }: Message): boolean {
  return answers.some(({ data }) => typeOfData(data) === type);
}

function judgePositive({ answers }: Message, rules: CachingRules): Keeping {
  return keepPositive(computeMinTtl(answers), rules);
}

/** @param minTtl the lowest TTL of the answer section, in seconds */
export function keepPositive(minTtl: number, rules: CachingRules): Keeping {
  return keep('positive', clampTtl(minTtl, rules));
}

function judgeNegative({ answers, authorities }: Message, rules: CachingRules): Keeping {
  for (const { data, ttl } of authorities)
    if (data.kind === 'SOA') return keepNegative(Math.min(ttl, data.minimum), computeMinTtl(answers), rules);
  return keepNegative(rules.negTtl ?? 0, computeMinTtl(answers), rules);
}

/**
 * @param seconds from the SOA record: the lower of its TTL and its minimum
 * @param minTtl the lowest TTL of the answer section, in seconds; infinite if it is empty
 */
export function keepNegative(seconds: number, minTtl: number, rules: CachingRules): Keeping {
  if (!rules.negativeCaching) return never('negative answers are not kept');
  if (seconds === 0) return never('there is no SOA record to say for how long, or it says 0');
  const bounded = Math.min(clampTtl(seconds, rules), rules.maxNegativeTtl ?? Number.POSITIVE_INFINITY);
  return keep('negative', Math.min(bounded, clampTtl(minTtl, rules)));
}

function computeMinTtl(records: readonly ResourceRecord[]): number {
  return records.reduce((min, { ttl }) => Math.min(min, ttl), Number.POSITIVE_INFINITY);
}

/** The TTL of a record in a cached reply. */
export function keptTtl(ttl: number, keeping: CachedFor, rules: CachingRules): number {
  const bounded = clampTtl(ttl, rules);
  return keeping.kind === 'negative' ? Math.min(bounded, keeping.seconds) : bounded;
}

function keep(kind: 'positive' | 'negative' | 'failure', seconds: number): Keeping {
  return seconds >= 1 ? { kind, seconds: Math.floor(seconds) } : never('its TTL is 0');
}

function never(reason: string): Keeping {
  return { kind: 'never', reason };
}
