/**
 * A plugin of a server block while it runs, and what the engine gives to make one.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Context, Plugin as OutsidePlugin } from '@portolan/plugin';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { MetricRegistry } from '../base/metrics/registry.ts';
import type { Chain, Handler } from '../chain/handler.ts';
import type { AnswerKeeper } from '../chain/handover-answer.ts';
import type { FactSource } from '../chain/query.ts';
import type { LocalisedPublication } from '../table/types.ts';
import type { BlockChoice } from './block-choice.ts';
import type { PluginInspection } from './inspection.ts';

/** What a cache with our own rules counts. */
export interface OwnCacheCounts {
  /** Questions answered from the cache, by handlers; readers count their own. */
  readonly hits: number;
  readonly misses: number;
  /** Answers served stale because no new one came in time, without those that readers repeat. */
  readonly stale: number;
  readonly prefetched: number;
}

/** Statistics of plugins, for metrics. */
export interface PluginStats {
  readonly cache?: OwnCacheCounts;
}

export type { StopReason } from '@portolan/plugin';

/**
 * Life of a plugin: created, `start` (resolves once the plugin can answer), `follow`, `shown`, `serving`, `stop`. Only `handler`
 * is required. The layer below, `@portolan/plugin`, is what plugins from outside have.
 */
export interface Plugin extends Omit<OutsidePlugin, 'handler'> {
  /** Undefined: it does not answer queries. */
  readonly handler: Handler | undefined;
  /** Handlers that stand elsewhere in the block, by the names of their places: `usePlace`. */
  readonly further?: Readonly<Record<string, Handler>>;
  /** Its block answers from now on: applies its options to everything that outlives plans. */
  follow?(): void;
  /** From now on, readers answer for its block. */
  shown?(): void;
  /** Drops cached answers for a name and all names below it. */
  forget?(domain: NameKey): void;
  counts?(): PluginStats;
  /** What it holds, for explanations and the status. */
  inspect?(): PluginInspection;
  /** For which queries its block answers; undefined: for all of its zones. */
  readonly choice?: BlockChoice;
  /** Sources of facts about queries, for the choice of the block. */
  readonly factSources?: readonly FactSource[];
  /** Holds cached answers that the process that takes over can use. */
  readonly keeper?: AnswerKeeper | undefined;
  /** Local names as the clients of a network see them. */
  readonly localised?: readonly LocalisedPublication[];
}

/**
 * What a plugin may use of its block while it runs. It has no reference to a former plan: each plan would keep the previous one in memory.
 */
export interface PluginContext extends Context {
  readonly log: Log;
  readonly clock: Clock;
  /** The whole chain of the block, from its first handler: for handlers that ask for further names. */
  readonly chain: Chain;
  /** All blocks of the listeners that received the query: for names that other blocks may have. */
  readonly lookUp: Chain;
  /** Families that stay when plans change: `metrics.counter('coredns_template_matches_total', …)`. Labels: `query.site`. */
  readonly metrics: MetricRegistry;
  /** Updates the views when the questions or publications of handlers change. @returns false if the views stay as they were */
  readonly changed: () => boolean;
  /** The block's plugin of a kind; undefined: the block has none, or has not made it yet. */
  find<Made extends Plugin>(kind: abstract new (...parts: never[]) => Made): Made | undefined;
}

/** The former plugin, if it is of a kind. */
export function ofKind<Made extends Plugin>(
  kind: abstract new (...parts: never[]) => Made,
  former: Plugin | undefined,
): Made | undefined {
  return former instanceof kind ? former : undefined;
}
