/**
 * A plugin of a server block while it runs, and what the engine gives to make one.
 */
import type { Capability } from '../base/capability.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { MetricRegistry } from '../base/metrics/registry.ts';
import type { AnswerKeeper } from '../chain/handed-answer.ts';
import type { Chain, Handler } from '../chain/handler.ts';
import type { FactSource } from '../chain/query.ts';
import type { LocalisedPublication } from '../table/types.ts';
import type { NameKey } from '../wire/types.ts';
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

/** `replaced`: another plan is in force, or this one never was. `ending`: the server ends, and the table with it. */
export type StopReason = 'replaced' | 'ending';

/**
 * Life of a plugin: created, `start` (resolves once the plugin can answer), `follow`, `shown`, `serving`, `stop`. Only `handler`
 * is required.
 */
export interface Plugin {
  /** Undefined: it does not answer queries. */
  readonly handler: Handler | undefined;
  /**
   * Before queries are received: reads files, waits for a first state.
   *
   * @throws an error whose message says why the server cannot start, in the words of CoreDNS
   */
  start?(): void | Promise<void>;
  /** The server is about to stop: `start` must wait no longer. */
  proceed?(): void;
  /** Its block answers from now on: applies its options to everything that outlives plans. */
  follow?(): void;
  /** From now on, readers answer for its block. */
  shown?(): void;
  /** Queries are received now. */
  serving?(): void;
  /** Drops cached answers for a name and all names below it. */
  forget?(domain: NameKey): void;
  /** Checks for changed files at once. */
  reload?(): void;
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
  /** For `ready`. Default: always ready. */
  isReady?(): boolean;
  /** Whether it may lose readiness also where `ready` says "once ready, always ready". Default: no. */
  readonly losesReadiness?: boolean;
  /** Called when no query arrives any more and no earlier one is in flight. */
  stop?(reason: StopReason): void | Promise<void>;
}

/**
 * What a plugin may use of its block while it runs. It has no reference to a former plan: each plan would keep the previous one in memory.
 */
export interface PluginContext {
  /** The zones of its block, in the order of its keys; at least one. */
  readonly zones: readonly NameKey[];
  /** The first listener group that has the block: `dns://:53`. */
  readonly server: string;
  /** Lines of the plugin: `info('plugin/file: Successfully reloaded zone')` is printed as `[INFO] plugin/file: …`. */
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
  /** A service that few plugins need, by its key: `use(ANSWER_TABLE)`. @throws TypeError where there is none */
  use<Service>(service: Capability<Service>): Service;
}

/** The former plugin, if it is of a kind. */
export function ofKind<Made extends Plugin>(
  kind: abstract new (...parts: never[]) => Made,
  former: Plugin | undefined,
): Made | undefined {
  return former instanceof kind ? former : undefined;
}
