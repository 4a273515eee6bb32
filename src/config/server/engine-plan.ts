/**
 * What the engine answers from: the value that the settings of each front end are compiled to, together with what the files and
 * objects that it follows say now.
 *
 * A plan is complete and checked. When one of the followed files changes, the front end compiles another plan, and the engine
 * changes to it.
 */
import type { ServerBlocksPlan } from './server-blocks-plan.ts';

/** Blocks of plugins are all that answers; beside them stands how much memory the process has for it. */
export interface EnginePlan extends ServerBlocksPlan {
  /** It belongs to the process: a changed plan leaves it as it was. */
  readonly cache: CacheSize;
  /** The size that our OPT records offer, and the limit of UDP responses, in octets. */
  readonly udpSize: number;
}

export interface CacheSize {
  readonly octets: number;
  /** Cached answers at most; infinite where the octets alone count. */
  readonly entries: number;
  /** Seconds that clients are told at most. Default: any number. */
  readonly maxTtl?: number | undefined;
}
