/**
 * What the pages of the dashboard show: one object of JSON, merged from all replicas. Readers ignore fields that they do not know.
 */
import type { Explanation } from '@portolan/server/reasons/explanation.ts';
import type { Finding } from '@portolan/server/reasons/finding.ts';
import type { WatchedQuery } from '../control/query-stream.ts';
import type { ServerStatus } from '../control/status.ts';
import type { TopSnapshot } from '../control/watch-verbs.ts';

export interface PageState {
  /** RFC 3339. */
  readonly at: string;
  readonly health: Health;
  readonly findings: readonly ReplicaFinding[];
  /** Checks that ran, and those that lack evidence. */
  readonly checked: number;
  readonly notChecked: readonly string[];
  readonly series: Series;
  readonly traffic: Traffic;
  readonly failures: readonly FailureGroup[];
  /** Newest first. */
  readonly changes: readonly Change[];
  readonly replicas: readonly ComparedReplica[];
}

export interface Health {
  readonly word: 'healthy' | 'degraded' | 'broken' | 'unknown';
  readonly sentence: string;
  /** RFC 3339: since when it has this word, as far as the dashboard saw. */
  readonly since: string;
}

export interface ReplicaFinding extends Omit<Finding, 'remedies'> {
  readonly remedies: readonly { readonly sentence: string; readonly command?: string }[];
  /** Those that have it. */
  readonly replicas: readonly string[];
}

/** Columns of equal length; rates are per second over all replicas. */
export interface Series {
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly queries: readonly number[];
  readonly missing: readonly number[];
  readonly failed: readonly number[];
}

/** Of the last minute. */
export type Traffic = Omit<TopSnapshot, 'isPast' | 'unlisted' | 'failures' | 'upstreams'>;

/** Failures of the last minute with one cause. */
export interface FailureGroup {
  /** A reason, or a response code. */
  readonly cause: string;
  readonly count: number;
  readonly names: readonly { readonly name: string; readonly type: string; readonly count: number }[];
}

export interface Change {
  /** RFC 3339: when the dashboard noticed it. */
  readonly at: string;
  readonly replica: string;
  readonly kind: 'replica' | 'ready' | 'configuration' | 'upstream' | 'watch' | 'finding' | 'version';
  readonly sentence: string;
}

export interface ComparedReplica {
  readonly name: string;
  /** Why it cannot be asked; undefined: it can. */
  readonly error: string | undefined;
  readonly cells: readonly Cell[];
}

export interface Cell {
  readonly column: string;
  readonly value: string;
  /** How it deviates from the others, in words. */
  readonly note?: string;
}

export interface ExplainedByReplica {
  readonly replica: string;
  readonly explanation?: Explanation;
  readonly error?: string;
}

/** One line of the queries that are asked right now, of all replicas. */
export interface LiveLine {
  /** Oldest first. */
  readonly queries: readonly LiveQuery[];
  /** Queries that are not among them: there were too many. */
  readonly leftOut: number;
  /** Why queries of a replica cannot be seen at the moment. */
  readonly problems: readonly { readonly replica: string; readonly reason: string }[];
  /** Those that are watched. */
  readonly replicas: number;
}

export interface LiveQuery extends WatchedQuery {
  readonly replica: string;
}

/** What the dashboard holds of a replica. */
export interface ReplicaState {
  readonly name: string;
  readonly status: ServerStatus | undefined;
  readonly error: string | undefined;
  /** Queries per second of the latest interval. */
  readonly rate: number | undefined;
}
