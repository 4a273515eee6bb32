/**
 * How to make the response to a client from a raw reply, and which TTLs its records get.
 */
import type { FlagChange } from '@portolan/plugin';
import type { CachingRules } from './caching-rules.ts';

export type AnswerForm =
  /** Our own flags and OPT record. TTLs of cacheable answers are bounded individually. */
  | { readonly kind: 'own'; readonly caching: CachingRules }
  /**
   * The flags of the reply, and the UDP size of the client's OPT record, as CoreDNS answers. With a cache, all records
   * get the same TTL; undefined: they keep those of the reply.
   */
  | {
      readonly kind: 'as-sent';
      readonly caching: UniformCaching | undefined;
      /** Whether address sets start at a random record. */
      readonly rotates: boolean;
      /** Flags that differ from those of the reply. */
      readonly flags: FlagChange;
      /** Whether the OPT record of replies with records is dropped. */
      readonly dropsOpt: boolean;
    };

export type { FlagChange } from '@portolan/plugin';

export const NO_FLAG_CHANGE: FlagChange = { clear: 0, set: 0 };

/** The TTL rule of CoreDNS's plugin/cache: the lowest TTL of all records, within bounds. */
export interface UniformCaching {
  readonly success: TtlBounds;
  readonly denial: TtlBounds;
  /** Whether a denial has the minimum of its SOA record as its TTL, if that is lower (RFC 2308 section 5). */
  readonly heedsMinimum: boolean;
  /** Whether the chain must see each question for a new answer, to count them. */
  readonly countsHits: boolean;
}

/** Seconds. */
export interface TtlBounds {
  readonly minTtl: number;
  readonly maxTtl: number;
}
