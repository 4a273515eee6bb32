/**
 * A plugin of a server block while it runs, and what the engine gives to make one.
 */
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { AnswerKeeper } from '../chain/handed-answer.ts';
import type { Chain, Handler } from '../chain/handler.ts';
import type { PluginMetrics } from '../chain/plugin-metrics.ts';
import type { Connect } from '../forward/connect.ts';
import type { ReaderPath } from '../forward/reader-path/reader-path.ts';
import type { PacketPath } from '../listen/types.ts';
import type { ResolverStats } from '../resolver/resolver.ts';
import type { EtcdStats } from '../sources/etcd/etcd-source.ts';
import type { LocalisedPublication } from '../sources/local/localised-publications.ts';
import type { QueryCounts } from '../table/counter-sums.ts';
import type { TableWriter } from '../table/writer.ts';
import type { NameKey } from '../wire/types.ts';

/** @param response begins with a response of so many octets, which took so long to be made */
export type AnswerCount = (response: Uint8Array, length: number, milliseconds: number) => void;

/** What plugins say of themselves, for metrics. */
export interface PluginStats {
  readonly resolver?: ResolverStats;
  readonly etcd?: EtcdStats & { readonly isKnown: boolean };
}

/** Another plan is followed, or never was this one; or the server ends, and with it all that is in the table. */
export type StopReason = 'replaced' | 'ending';

/**
 * Life of a plugin: made, `start`, which ends when it is known what it answers, `follow`, `shown`, `serving`, `stop`. All but the
 * handler may be left out.
 */
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
  /** Its block answers from now on: what outlives plans follows its options. */
  follow?(): void;
  /** Readers answer as its block does from now on. */
  shown?(): void;
  /** Queries are received now. */
  serving?(): void;
  /** Forgets what is cached of a name and all below it. */
  forget?(domain: NameKey): void;
  /** Looks for changed files at once. */
  reload?(): void;
  counts?(): PluginStats;
  /** Answers packets without the chain. */
  readonly packetPath?: PacketPath;
  /** Has cached answers that the process which takes over may go on with. */
  readonly keeper?: AnswerKeeper | undefined;
  /** The number by which views say that readers forward. */
  readonly route?: number;
  /** Local names as the clients of a network see them. */
  readonly localised?: readonly LocalisedPublication[];
  /** For `ready`; left out: always. */
  isReady?(): boolean;
  /** No query comes any more, and none is under way that came before. */
  stop?(reason: StopReason): void | Promise<void>;
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
  /** The plugin of the block that is of a kind; undefined: there is none, or it is not made yet. */
  find<Made extends Plugin>(kind: abstract new (...parts: never[]) => Made): Made | undefined;
  /** The handlers of the block, in order; whole once the block is. */
  readonly handlers: () => readonly Handler[];
  /** The chain from the handler of a plugin on. @param name of a plugin of the block */
  chainFrom(name: string): Chain;
  /** Has the views changed: the handlers have other questions or publications. @returns false: they show what they did */
  readonly changed: () => boolean;
  /** What readers forward. */
  readonly readerPath: ReaderPath;
  /** How upstream servers are reached; undefined: by sockets. */
  readonly connectUpstream: Connect | undefined;
  /** Octets of UDP responses at most. */
  readonly udpSize: number;
  /** All queries since the start. */
  readonly countQueries: () => QueryCounts;
  /** Counts an answer that was made without the chain. */
  readonly countAnswer: AnswerCount;
  /** Whether names of the cluster are counted apart from all others. */
  readonly countsByDomain: boolean;
}

/** A former plugin, if it is of a kind. */
export function ofKind<Made extends Plugin>(
  kind: abstract new (...parts: never[]) => Made,
  former: Plugin | undefined,
): Made | undefined {
  return former instanceof kind ? former : undefined;
}
