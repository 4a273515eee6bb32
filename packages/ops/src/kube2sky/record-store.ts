/**
 * The store for the records of kube2sky: an etcd, by either version of its API. Only one instance writes at a time, the owner.
 */

export interface StoredRecord {
  readonly value: string;
  /** The revision of its last change, which a write refers to. */
  readonly version: number;
}

export type RecordChange =
  /** `version`: of the record to replace; undefined for a new record. */
  | {
      readonly kind: 'put';
      readonly key: string;
      readonly value: string;
      readonly version: number | undefined;
    }
  | { readonly kind: 'remove'; readonly key: string; readonly version: number };

/** Calls reject with an EtcdError. */
export interface RecordStore {
  /** Becomes or stays the owner. @returns false while another instance is the owner */
  own(): Promise<boolean>;
  /** All records below a key. */
  read(folder: string): Promise<ReadonlyMap<string, StoredRecord>>;
  /** @returns false if others changed records meanwhile: then the caller must read again */
  write(changes: readonly RecordChange[]): Promise<boolean>;
  /** Gives up ownership, so that another instance continues at once. */
  close(): Promise<void>;
}

/** Seconds that an owner stays owner without renewal. */
export const OWNER_TTL = 15;

/** @param domain with its final dot @returns the key of the owner, outside the keys that SkyDNS serves */
export function ownerKey(domain: string): string {
  return `/portolan/kube2sky/${domain.replace(/\.$/, '')}`;
}
