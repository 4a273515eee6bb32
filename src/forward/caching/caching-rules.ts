/**
 * Whether a reply may be kept, and for how long.
 *
 * Positive: the least TTL of the answer section (its CNAME chain included). Negative: what the SOA record says (RFC 2308
 * section 5), and nothing is kept of a negative answer without one unless a time for it is configured. Failures: RFC 9520.
 */
import { typeOfData } from '../../wire/record-data.ts';
import { CLASS, type Message, type Question, RCODE, type ResourceRecord, TYPE } from '../../wire/types.ts';

/** Seconds throughout; undefined: no such bound. The names are those of dnsmasq's options. */
export interface CachingRules {
  /** TTLs below are raised to it, but not above an hour. It wins over `maxCacheTtl`, as in dnsmasq. */
  readonly minCacheTtl: number;
  readonly maxCacheTtl: number | undefined;
  /** For negative answers without SOA. */
  readonly negTtl: number | undefined;
  readonly negativeCaching: boolean;
  /** The longest that a negative answer is kept: a name may be there any moment. */
  readonly maxNegativeTtl: number | undefined;
  /** For SERVFAIL, 0 to 5. */
  readonly failureTtl: number;
}

/** What `serve` does. Longer TTLs than a day are mistakes more often than not, and outlive the change of an address. */
export const SERVE_CACHING: CachingRules = {
  minCacheTtl: 0,
  maxCacheTtl: 86_400,
  negTtl: undefined,
  negativeCaching: true,
  maxNegativeTtl: 5,
  failureTtl: 5,
};

/** What dnsmasq does when no option says otherwise. */
export const DNSMASQ_CACHING: CachingRules = {
  ...SERVE_CACHING,
  maxCacheTtl: undefined,
  maxNegativeTtl: undefined,
  failureTtl: 0,
};

/** A reply that may be kept, for so many seconds, from 1. */
export interface Kept {
  readonly kind: 'positive' | 'negative' | 'failure';
  readonly seconds: number;
}

export type Keeping = Kept | { readonly kind: 'never'; readonly reason: string };

const MAX_MIN_CACHE_TTL = 3600;
/** RFC 9520 section 3.2 asks for 1 s at least and 5 minutes at most; a name that failed deserves another look sooner. */
const MAX_FAILURE_TTL = 5;

function clampTtl(ttl: number, { minCacheTtl, maxCacheTtl }: CachingRules): number {
  const bounded = Math.min(ttl, maxCacheTtl ?? ttl);
  return Math.max(bounded, Math.min(minCacheTtl, MAX_MIN_CACHE_TTL));
}

/** @param message a reply to the question, without what does not belong to it */
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
  return keepPositive(minTtlOf(answers), rules);
}

/** @param minTtl the least TTL of the answer section, in seconds */
export function keepPositive(minTtl: number, rules: CachingRules): Keeping {
  return keep('positive', clampTtl(minTtl, rules));
}

function judgeNegative({ answers, authorities }: Message, rules: CachingRules): Keeping {
  for (const { data, ttl } of authorities)
    if (data.kind === 'SOA') return keepNegative(Math.min(ttl, data.minimum), minTtlOf(answers), rules);
  return keepNegative(rules.negTtl ?? 0, minTtlOf(answers), rules);
}

/**
 * @param seconds what the SOA record says: the lesser of its TTL and its minimum
 * @param minTtl the least TTL of the answer section, in seconds; infinite where it is empty
 */
export function keepNegative(seconds: number, minTtl: number, rules: CachingRules): Keeping {
  if (!rules.negativeCaching) return never('negative answers are not kept');
  if (seconds === 0) return never('there is no SOA record to say for how long, or it says 0');
  const bounded = Math.min(clampTtl(seconds, rules), rules.maxNegativeTtl ?? Number.POSITIVE_INFINITY);
  return keep('negative', Math.min(bounded, clampTtl(minTtl, rules)));
}

function minTtlOf(records: readonly ResourceRecord[]): number {
  return records.reduce((min, { ttl }) => Math.min(min, ttl), Number.POSITIVE_INFINITY);
}

/** The TTL that a record of a kept reply has. */
export function keptTtl(ttl: number, keeping: Kept, rules: CachingRules): number {
  const bounded = clampTtl(ttl, rules);
  return keeping.kind === 'negative' ? Math.min(bounded, keeping.seconds) : bounded;
}

function keep(kind: 'positive' | 'negative' | 'failure', seconds: number): Keeping {
  return seconds >= 1 ? { kind, seconds: Math.floor(seconds) } : never('its TTL is 0');
}

function never(reason: string): Keeping {
  return { kind: 'never', reason };
}
