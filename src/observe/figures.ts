/**
 * What the metrics are made from: counts and states of all rooms at one moment, as the running server gives them.
 */
import type { ResolverFigures } from '../handlers/resolver/resolver.ts';
import type { WatchState } from '../kube/list-watch/state.ts';
import type { TcpCounts } from '../listen/tcp.ts';
import type { UdpCounts } from '../listen/udp-listener.ts';
import type { QueryCounts } from '../table/counter-sums.ts';
import type { TableStatistics } from '../table/writer.ts';

export interface Figures {
  readonly ready: boolean;
  readonly queries: QueryCounts;
  readonly table: TableStatistics;
  /** Milliseconds since the data was last proven current; undefined until everything was listed. */
  readonly dataAge: number | undefined;
  readonly watches: readonly WatchFigures[];
  readonly resolver: ResolverFigures;
  /** Undefined until the sockets are open. */
  readonly udp: UdpCounts | undefined;
  readonly tcp: TcpCounts | undefined;
  readonly snapshot: SnapshotFigures | undefined;
  readonly manifests: ManifestFigures | undefined;
  /** Undefined where no settings are followed. */
  readonly config: ConfigFigures | undefined;
}

export interface WatchFigures {
  /** The kind: `services`, `endpoints`. */
  readonly title: string;
  readonly state: WatchState['kind'];
  readonly age: number | undefined;
  readonly objects: number;
  readonly lists: number;
  readonly repairs: number;
  readonly malformed: number;
}

export interface SnapshotFigures {
  readonly written: number;
  readonly errors: number;
  /** Milliseconds since the epoch. */
  readonly lastWritten: number | undefined;
}

export interface ManifestFigures {
  readonly files: number;
  readonly badFiles: number;
}

/** Of settings that change while the server runs. */
export interface ConfigFigures {
  /** Changes that were not taken in, by the key that was wrong. */
  readonly errors: ReadonlyMap<string, number>;
  /** Whether the last good settings hold instead of those that were given last. */
  readonly isLastGood: boolean;
  /** Changes that were taken in. */
  readonly changes: number;
  /** Milliseconds since the epoch, of the last of them. */
  readonly changedAt: number | undefined;
}
