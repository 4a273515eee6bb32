/**
 * A plugin of a server block while it runs, and what the engine gives to make one.
 */
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Chain, Handler } from '../../chain/handler.ts';
import type { PluginMetrics } from '../../chain/plugin-metrics.ts';
import type { TableWriter } from '../../table/writer.ts';
import type { NameKey } from '../../wire/types.ts';

/** Life of a plugin: made, `start`, which ends when it is known what it answers, `serving`, `stop`. All but the handler may be left out. */
export interface Plugin {
  /** Undefined: it has no part in answering. */
  readonly handler: Handler | undefined;
  /**
   * Before queries are received: reads files, waits for a first state.
   *
   * @throws an error whose message says why the server cannot start, in the words of CoreDNS
   */
  start?(): void | Promise<void>;
  /** The server is to stop: `start` waits no longer. */
  proceed?(): void;
  /** Queries are received now. */
  serving?(): void;
  /** For `ready`; left out: always. */
  isReady?(): boolean;
  /** No query comes any more, and none is under way that came before. */
  stop?(): void | Promise<void>;
}

/**
 * What a plugin may use of its block and of the process, for as long as it runs. Nothing of a former plan is in it: each plan would
 * keep the one before.
 */
export interface PluginContext {
  /** The zones of its block, in the order of its keys; at least one. */
  readonly zones: readonly NameKey[];
  /** Where the block is reached first: `dns://:53`. */
  readonly server: string;
  /** Lines of the plugin: `info('plugin/file: Successfully reloaded zone')` is printed as `[INFO] plugin/file: …`. */
  readonly log: Log;
  readonly clock: Clock;
  /** What handlers publish is found there. */
  readonly table: TableWriter;
  /** The whole chain of the block, from its first handler: for handlers that ask for further names. */
  readonly chain: Chain;
  /** All blocks of the listeners that a query came to: for names that other blocks may have. */
  readonly lookUp: Chain;
  readonly version: string;
  /** Families that stay when plans change: `metrics.counter('coredns_template_matches_total', …)`. Labels: `query.site`. */
  readonly metrics: PluginMetrics;
  /** The names of the block's handlers, in order; whole once the block is. */
  readonly handlerNames: () => readonly string[];
  /** Whether the plan has a listener at an address and port, so that what is sent there comes to us. */
  readonly listensAt: (address: string, port: number) => boolean;
  /** Whether plugins do as CoreDNS does also where that harms. */
  readonly isStrict: boolean;
}
