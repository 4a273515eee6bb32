/**
 * Statistics of all layers at one moment, the source of the metrics.
 */
import type { EtcdStats } from '@portolan/etcd/source/etcd-source.ts';
import type { LossCount } from '@portolan/kernel/base/losses.ts';
import type { OwnCacheCounts } from '@portolan/kernel/contract/plugin.ts';
import type { ForwardCounts } from '@portolan/kernel/forward/forward-tally.ts';
import type { ForwardedQueries } from '@portolan/kernel/forward/reader-path/reader-path.ts';
import type { TcpCounts } from '@portolan/kernel/listen/tcp.ts';
import type { UdpCounts } from '@portolan/kernel/listen/udp-listener.ts';
import type { QueryCounts } from '@portolan/kernel/table/counter-sums.ts';
import type { TableStatistics } from '@portolan/kernel/table/writer.ts';
import type { WatchStats } from '@portolan/kubernetes/api/list-watch/state.ts';
import type { SnapshotStats } from '@portolan/kubernetes/snapshot/snapshot-keeper.ts';
import type { Finding } from '../reasons/finding.ts';
import type { DropCounts } from './http-connections.ts';

export interface Stats {
  readonly ready: boolean;
  /** Why it is not ready, or a note. */
  readonly reason: string | undefined;
  /** What the server finds wrong with itself and its cluster. */
  readonly findings: readonly Finding[];
  /** What the sources of names have lost at once. */
  readonly losses: readonly LossCount[];
  /** Names that search lists made, by the namespace of the pod; the empty name: further namespaces. Undefined: not counted. */
  readonly searches: ReadonlyMap<string, number> | undefined;
  /** Names of services that upstream servers denied: they are in the domain of another cluster. */
  readonly foreignDenials: number;
  readonly queries: QueryCounts;
  readonly table: TableStatistics;
  /** Milliseconds since the data was last known to be current; undefined before the first complete list. */
  readonly dataAge: number | undefined;
  readonly watches: readonly WatchStats[];
  /** Statistics of zones from etcd; undefined: there are none. */
  readonly etcd: EtcdStats | undefined;
  /** What was asked of upstream servers. */
  readonly forward: ForwardCounts;
  /** Of the cache of our own front ends. */
  readonly cache: OwnCacheCounts;
  readonly forwarded: ForwardedQueries;
  /** Undefined until the sockets are open. */
  readonly udp: UdpCounts | undefined;
  readonly tcp: TcpCounts | undefined;
  /** Connections of the HTTP ports that were closed before their requests were answered. */
  readonly httpDrops: DropCounts;
  readonly queryLog: QueryLogStats;
  readonly snapshot: SnapshotStats | undefined;
  readonly manifests: ManifestStats | undefined;
  /** Undefined if the settings cannot change at run time. */
  readonly config: ConfigStats | undefined;
  /** Bundles of the program by the state of their code caches; undefined if the program is not bundled. */
  readonly codeCaches?: Readonly<Record<'used' | 'rejected' | 'absent', number>> | undefined;
}

export interface QueryLogStats {
  /** Events lost because their ring was full. */
  readonly dropped: number;
  /** Failed writes. */
  readonly failures: number;
}

export interface ManifestStats {
  readonly files: number;
  readonly badFiles: number;
}

/** Statistics of settings that change at run time. */
export interface ConfigStats {
  /** Rejected changes, by invalid key. */
  readonly errors: ReadonlyMap<string, number>;
  /** Whether the last good settings are in force because the latest are invalid. */
  readonly isLastGood: boolean;
  /** What is wrong with the latest settings, as sentences; empty: nothing. */
  readonly problems: readonly string[];
  /** Applied changes. */
  readonly changes: number;
  /** When the last change was applied, in milliseconds since the epoch. */
  readonly changedAt: number | undefined;
}

/** For servers whose plan has no cache with our own rules. */
export const NO_CACHE: OwnCacheCounts = { hits: 0, misses: 0, stale: 0, prefetched: 0 };
