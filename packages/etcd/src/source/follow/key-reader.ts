/**
 * Interfaces to read and watch keys below a prefix by one version of etcd's API.
 */
import type { KeyLease } from '../names/leases.ts';

/** Receives keys and their changes. Keys are complete, with the prefix. */
export interface KeySink {
  /** Starts a read of all keys: a key that is not put before `completeRead` no longer exists. */
  beginRead(): void;
  put(key: Buffer, value: Buffer | 'too-large', lease: KeyLease | undefined): void;
  remove(key: Buffer): void;
  /** The key and all keys below it were removed. */
  removeFolder(key: Buffer): void;
  completeRead(): Promise<void>;
  /** Ends a batch of changes that belong together. */
  completeBatch(): void;
}

export interface KeyReader {
  /** The member in use. */
  readonly endpoint: string;
  /** The cluster ID, once it is known. */
  readonly cluster: string | undefined;
  /** Reads all keys. @throws EtcdError */
  read(sink: KeySink): Promise<void>;
  /** Reports changes after the read, and calls `onCurrent` once it has caught up. Ends only with an error. @throws EtcdError */
  watch(sink: KeySink, onCurrent: () => void): Promise<never>;
  /** The remaining seconds of a lease. @throws EtcdError */
  askLease(id: string): Promise<number>;
  /** Ends all calls. */
  close(): void;
}
