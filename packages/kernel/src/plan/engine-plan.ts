/**
 * The plan of the engine: each front end compiles its settings to it, together with the current files and objects that it follows.
 *
 * A plan is complete and validated. When a followed file changes, the front end compiles a new plan and the engine switches to it.
 */
import type { LossRule } from '../base/losses.ts';
import type { ServerBlocksPlan } from './server-blocks-plan.ts';

/** The server blocks that answer queries, and the memory that the process reserves for answers. */
export interface EnginePlan extends ServerBlocksPlan {
  readonly cache: CacheSize;
  /** The UDP size in our OPT records, and the maximum size of UDP responses, in octets. */
  readonly udpSize: number;
  /** When names that a source has lost are kept for a time. Default: never. */
  readonly losses?: LossRule | undefined;
}

export interface CacheSize {
  /** Memory, of which only what the answers need is touched. */
  readonly octets: number;
  /** The maximum number of cached answers; infinite if only octets are limited. Fixed for the process, like `maxTtl`. */
  readonly entries: number;
  /** The maximum TTL, in seconds, in answers to clients. Default: no limit. */
  readonly maxTtl?: number | undefined;
}
