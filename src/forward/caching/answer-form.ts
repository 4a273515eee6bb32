/**
 * How the response to a client is made of a raw reply, and which TTLs its records have.
 */
import type { CachingRules } from './caching-rules.ts';

export type AnswerForm =
  /** With flags and an OPT record of our own. TTLs of what may be kept are brought within bounds, each by itself. */
  | { readonly kind: 'own'; readonly caching: CachingRules }
  /**
   * With the flags of the reply, and the UDP size that the client's OPT record has, as CoreDNS answers. Where answers are cached all
   * records have one TTL; undefined: they have those of the reply.
   */
  | {
      readonly kind: 'as-sent';
      readonly caching: UniformCaching | undefined;
      /** Whether sets of addresses start anywhere. */
      readonly rotates: boolean;
    };

/** The caching of plugin/cache of CoreDNS: the least TTL of all records, within bounds. */
export interface UniformCaching {
  readonly success: TtlBounds;
  readonly denial: TtlBounds;
}

/** Seconds. */
export interface TtlBounds {
  readonly minTtl: number;
  readonly maxTtl: number;
}
