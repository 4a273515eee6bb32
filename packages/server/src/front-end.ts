/**
 * The interface of front ends to the server: a front end compiles its settings, and the files and objects that it follows, to one plan.
 */
import type { ResourceRecord } from '@portolan/dns/types.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { Connect } from '@portolan/kernel/forward/connect.ts';
import type { WatchStats } from '@portolan/kubernetes/api/list-watch/state.ts';
import type { ObserveQuery } from './chain-observer.ts';
import type { ObjectSource } from './object-source.ts';
import type { LineRules } from './observe/query-events/event-lines.ts';
import type { ConfigStats, ManifestStats } from './observe/stats.ts';
import type { ServerPlan } from './plan/server-plan.ts';
import type { ServerEvidence } from './reasons/finding.ts';

export interface FrontEnd {
  /** The current plan. */
  readonly plan: ServerPlan;
  /** Observers of queries and answers; undefined: none. */
  readonly watching: Watching | undefined;
  /** Opens health endpoints, which answer already while the server starts. `stop` closes them. */
  open?(): Promise<void>;
  /**
   * Reads its files and objects and starts to follow them.
   *
   * @param onChange called with each new plan
   * @param source of cluster objects, if any; it may contain a ConfigMap to follow
   */
  start(onChange: PlanListener, source: ObjectSource | undefined): Promise<void>;
  /** The server is about to stop and serves until the lameduck time ends. */
  leaving?(): void | Promise<void>;
  /** Rereads all files that it follows. */
  reload(): Promise<void>;
  /** Whether a reload keeps the cache and does not reread the files that blocks follow. */
  readonly reloadsPlanAlone: boolean;
  /** Whether slow settings were read, or are known to be unreadable. Stays true. */
  readonly isSettled: boolean;
  stats(): FrontEndStats;
  /** Logs that the server serves. */
  announce(facts: ServingFacts): void;
  stop(): Promise<void>;
}

/**
 * Resolves when the plan is in force; rejects and changes nothing on failure.
 *
 * @param clearsCache whether cached answers must not be used any more
 */
export type PlanListener = (plan: ServerPlan, clearsCache: boolean) => Promise<void>;

/** Wraps the listener for callers that cannot handle rejected plans: failures are logged. */
export function logRefusals(onChange: PlanListener, log: Log): PlanListener {
  return async (plan, clearsCache) => {
    try {
      await onChange(plan, clearsCache);
    } catch (error) {
      const reason = describeError(error);
      log.error('plan not changed', { reason });
    }
  };
}

/** Lines about queries in the log of the server: by rules about what readers answer, as notes about what handlers answer. */
export interface ObservingLog {
  readonly lines: LineRules;
  /** The hosts file of a local record; undefined if an option defines it. */
  readonly findHostsFile: (record: ResourceRecord) => string | undefined;
  /** @param note adds a line about a query, with the number of the query */
  start(note: (line: string, query: number) => void): void;
  readonly observe: ObserveQuery;
}

export interface Watching {
  /** Logs queries while readers still answer them. */
  readonly queryLog: ObservingLog;
  /** How to connect to upstream servers. */
  readonly connect: Connect;
}

export interface FrontEndStats {
  /** Undefined if the settings cannot change at run time. */
  readonly config: ConfigStats | undefined;
  /** What is wrong with the latest configuration that is no ConfigMap, as sentences; default: nothing. */
  readonly problems?: readonly string[];
  /** Of a node's cache whose packet filter rules are to be set, and are not. Default: none are to be set, or they are. */
  readonly missingRules?: ServerEvidence['missingRules'];
  readonly watches: readonly WatchStats[];
}

export interface ServingFacts {
  /** The source of objects: the address of the API server, or a folder. */
  readonly source: string | undefined;
  /** Undefined if names come from elsewhere. */
  readonly manifests: ManifestStats | undefined;
  /** `127.0.0.1:53`; several are separated by commas. */
  readonly addresses: string;
  readonly udpReaders: number;
  /** Open ports. */
  readonly healthPort: number | undefined;
  readonly metricsPort: number | undefined;
}
