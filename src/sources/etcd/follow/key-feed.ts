/**
 * The keys below a prefix as they are and as they change, whatever the version of etcd's API.
 */
import type { KeyLease } from '../names/leases.ts';

/** Who is told. Keys are whole, with the prefix. */
export interface KeySink {
  /** All keys are read: what is not put until `completeRead` is gone. */
  beginRead(): void;
  put(key: Buffer, value: Buffer | 'too-large', lease: KeyLease | undefined): void;
  remove(key: Buffer): void;
  /** The key and all keys below it are gone. */
  removeFolder(key: Buffer): void;
  completeRead(): Promise<void>;
  /** Changes that belong together have been told. */
  completeBatch(): void;
}

export interface FeedStats {
  /** Times that all keys were read. */
  readonly reads: number;
  /** Failed tries to read or to watch. */
  readonly failures: number;
  /** Milliseconds since what is known was current; 0: it is. Undefined: nothing was read yet. */
  readonly age: number | undefined;
}

export interface KeyFeed {
  start(sink: KeySink): void;
  /** The seconds that are left of a lease. @throws EtcdError */
  askLease(id: string): Promise<number>;
  stats(): FeedStats;
  /** Ends when nothing more is told. */
  stop(): Promise<void>;
}
