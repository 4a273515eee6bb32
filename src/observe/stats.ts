/**
 * Counts and states of all layers at one moment, from which the metrics are made.
 */
import type { ForwardedQueries } from '../forward/reader-path/reader-path.ts';
import type { WatchStats } from '../kube/api/list-watch/state.ts';
import type { TcpCounts } from '../listen/tcp.ts';
import type { UdpCounts } from '../listen/udp-listener.ts';
import { Latency } from '../resolver/latency.ts';
import type { ResolverStats } from '../resolver/resolver.ts';
import type { EtcdStats } from '../sources/etcd/etcd-source.ts';
import type { SnapshotStats } from '../sources/snapshot/snapshot-keeper.ts';
import type { QueryCounts } from '../table/counter-sums.ts';
import type { TableStatistics } from '../table/writer.ts';
import type { DropCounts } from './http-connections.ts';

export interface Stats {
  readonly ready: boolean;
  readonly queries: QueryCounts;
  readonly table: TableStatistics;
  /** Milliseconds since the data was last known to be current; undefined until everything was listed. */
  readonly dataAge: number | undefined;
  readonly watches: readonly WatchStats[];
  /** Of zones from an etcd; undefined: there are none. */
  readonly etcd: EtcdStats | undefined;
  readonly resolver: ResolverStats;
  readonly forwarded: ForwardedQueries;
  /** Undefined until the sockets are open. */
  readonly udp: UdpCounts | undefined;
  readonly tcp: TcpCounts | undefined;
  /** Connections of the HTTP ports that were closed before their requests were answered. */
  readonly httpDrops: DropCounts;
  readonly queryLog: QueryLogStats;
  readonly snapshot: SnapshotStats | undefined;
  readonly manifests: ManifestStats | undefined;
  /** Undefined where no settings are followed. */
  readonly config: ConfigStats | undefined;
}

export interface QueryLogStats {
  /** Events that found their ring full. */
  readonly dropped: number;
  /** Writes that failed. */
  readonly failures: number;
}

export interface ManifestStats {
  readonly files: number;
  readonly badFiles: number;
}

/** Of settings that change while the server runs. */
export interface ConfigStats {
  /** Rejected changes, by the key that was invalid. */
  readonly errors: ReadonlyMap<string, number>;
  /** Whether the last good settings are used because the latest are invalid. */
  readonly isLastGood: boolean;
  /** Applied changes. */
  readonly changes: number;
  /** Milliseconds since the epoch, of the last of them. */
  readonly changedAt: number | undefined;
}

/** Of a server whose plan has no resolver of its own. */
export const NO_RESOLVER: ResolverStats = {
  forward: {
    inFlight: 0,
    queued: 0,
    coalesced: 0,
    refused: 0,
    hedged: 0,
    retried: 0,
    droppedRecords: 0,
    upstreams: [],
  },
  forwarding: { latency: new Latency().count(), failures: new Map() },
  cachingResolver: { hits: 0, misses: 0, stale: 0 },
  prefetched: 0,
};
