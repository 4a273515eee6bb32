/**
 * Services of the engine that few plugins need: `context.use(ANSWER_TABLE)`.
 */
import { Capability } from '../base/capability.ts';
import type { Losses } from '../base/losses.ts';
import type { Chain, Handler } from '../chain/handler.ts';
import type { RestoredDeviations } from '../deviations/table.ts';
import type { Connect } from '../forward/connect.ts';
import type { ForwardTally } from '../forward/forward-tally.ts';
import type { ReaderPath } from '../forward/reader-path/reader-path.ts';
import type { QueryCounts } from '../table/counter-sums.ts';
import type { TableWriter } from '../table/writer.ts';

/** Holds the names that handlers publish. */
export const ANSWER_TABLE = new Capability<TableWriter>('answer table');

/** The block of a plugin, with the plugins around it. */
export interface BlockService {
  /** The names of the block's plugins, in order. */
  readonly pluginNames: readonly string[];
  /** The handlers of the block, in order; complete once the block is. */
  readonly handlers: () => readonly Handler[];
  /** Their names. */
  readonly handlerNames: () => readonly string[];
  /** A further handler of a plugin that stands earlier in the block. @param name of the plugin */
  furtherHandler(name: string, place: string): Handler | undefined;
  /** The chain of the handlers behind that of a plugin. @param name of a plugin of the block */
  chainBehind(name: string): Chain;
}

export const BLOCK = new Capability<BlockService>('block');

/** The plan that the block is of, and the process. */
export interface PlanService {
  readonly version: string;
  /** The deviations in which plugins do as CoreDNS does. */
  readonly restored: RestoredDeviations;
  /** Whether no plan has answered yet, so that clients wait for this one. */
  readonly isFirst: boolean;
  /** Whether the plan has a listener at an address and port, so that packets sent there reach us. */
  readonly listensAt: (address: string, port: number) => boolean;
}

export const PLAN = new Capability<PlanService>('plan');

/** Takes lines about queries for the log, and writes them in the order of time with those about queries that readers answer. */
export interface QueryLines {
  readonly info: (line: string) => void;
  readonly error: (line: string) => void;
}

export const QUERY_LINES = new Capability<QueryLines>('query lines');

/** Asking upstream servers, by readers and by the chain. */
export interface ForwardingService {
  readonly readerPath: ReaderPath;
  /** Counts what all plugins forward. */
  readonly forwardTally: ForwardTally;
  /** How upstream servers are reached; undefined: by sockets. */
  readonly connectUpstream: Connect | undefined;
}

export const FORWARDING = new Capability<ForwardingService>('forwarding');

/** For plugins whose names come from a source that may lose many at once. */
export const LOSSES = new Capability<Losses>('losses');

/** All queries since the start. */
export const QUERY_COUNTS = new Capability<() => QueryCounts>('query counts');
