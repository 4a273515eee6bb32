/**
 * A front end as the server sees it: settings of one kind and the files and objects that they follow, compiled to one plan.
 */

import type { Log } from '../base/log.ts';
import type { ServerPlan } from '../config/server/server-plan.ts';
import type { Connect } from '../forward/connect.ts';
import type { WatchStats } from '../kube/api/list-watch/state.ts';
import type { QueryEventRings } from '../listen/query-events/event-rings.ts';
import type { ConfigStats } from '../observe/stats.ts';
import type { ObjectSource } from './object-source.ts';
import type { ObserveQuery } from './observed-queries.ts';

export interface FrontEnd {
  /** The plan for what is known now. */
  readonly plan: ServerPlan;
  /** Sees queries and answers; undefined: nothing does. */
  readonly watching: Watching | undefined;
  /** Opens what answers while the server starts: endpoints for health. It closes them in `stop`. */
  open?(): Promise<void>;
  /**
   * Reads what is followed, and follows it.
   *
   * @param onChange called with each new plan
   * @param source of a cluster's objects, where there is one: it may hold a ConfigMap to follow
   */
  start(onChange: PlanListener, source: ObjectSource | undefined): Promise<void>;
  /** The server is to stop: it serves on for the lameduck time. */
  leaving?(): void | Promise<void>;
  /** Reads everything again that is followed. */
  reload(): Promise<void>;
  /** Whether a reload leaves what is cached, and files that blocks follow, as they are. */
  readonly reloadsPlanAlone: boolean;
  /** Whether settings were read that may take their time, or it is known why they cannot be. Never goes back. */
  readonly isSettled: boolean;
  stats(): FrontEndStats;
  /** Says in the log that the server serves. */
  announce(facts: ServingFacts): void;
  stop(): Promise<void>;
}

/**
 * Ends when the plan is followed, or rejects and leaves everything as it was.
 *
 * @param clearsCache whether nothing that is cached is to be answered any more
 */
export type PlanListener = (plan: ServerPlan, clearsCache: boolean) => Promise<void>;

/** The same listener for those who can do nothing about a plan that is not followed: it is logged. */
export function logRefusals(onChange: PlanListener, log: Log): PlanListener {
  return async (plan, clearsCache) => {
    try {
      await onChange(plan, clearsCache);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.error('plan not changed', { reason });
    }
  };
}

/** A log that reads the events of readers, and sees what the handlers answer. */
export interface ObservingLog {
  /** @param rings which no other consumer reads */
  start(rings: QueryEventRings): void;
  readonly observe: ObserveQuery;
}

export interface Watching {
  /** Logs queries without taking them from the readers. */
  readonly queryLog: ObservingLog;
  /** How upstream servers are reached. */
  readonly connect: Connect;
}

export interface FrontEndStats {
  /** Undefined where no settings are followed. */
  readonly config: ConfigStats | undefined;
  readonly watches: readonly WatchStats[];
}

export interface ServingFacts {
  /** Where objects come from: the API server's address, or a folder. */
  readonly source: string | undefined;
  /** `127.0.0.1:53`, with commas between several. */
  readonly addresses: string;
  readonly udpReaders: number;
  /** Ports that are open. */
  readonly healthPort: number | undefined;
  readonly metricsPort: number | undefined;
}
