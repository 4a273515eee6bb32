/**
 * How keys below a prefix are read and watched by one version of etcd's API, and what is told of them.
 */
import type { KeyLease } from '../names/leases.ts';

/** What is told of keys. They are whole, with the prefix. */
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

export interface KeyReader {
  /** The member that is used now. */
  readonly endpoint: string;
  /** The number of the cluster, once it is known. */
  readonly cluster: string | undefined;
  /** Reads all keys. @throws EtcdError */
  read(sink: KeySink): Promise<void>;
  /** Tells changes behind what was read, and calls `onCurrent` once they are told as they come. Ends by an error alone. @throws EtcdError */
  watch(sink: KeySink, onCurrent: () => void): Promise<never>;
  /** The seconds that are left of a lease. @throws EtcdError */
  askLease(id: string): Promise<number>;
  /** Ends all calls. */
  close(): void;
}
