/**
 * Where the records of kube2sky are written: an etcd, by either version of its API. One instance writes at a time, the owner.
 */

export interface StoredRecord {
  readonly value: string;
  /** The number of its last change, which a write refers to. */
  readonly version: number;
}

export type RecordChange =
  /** `version`: of the record that is replaced; undefined: there is none. */
  | {
      readonly kind: 'put';
      readonly key: string;
      readonly value: string;
      readonly version: number | undefined;
    }
  | { readonly kind: 'remove'; readonly key: string; readonly version: number };

/** Calls reject with an EtcdError. */
export interface RecordStore {
  /** Becomes the owner, or stays it. @returns false while another instance is */
  own(): Promise<boolean>;
  /** All records below a key. */
  read(folder: string): Promise<ReadonlyMap<string, StoredRecord>>;
  /** @returns false if something was changed by others meanwhile: then what is stored is to be read again */
  write(changes: readonly RecordChange[]): Promise<boolean>;
  /** Gives up what it owns, so that another instance goes on at once. */
  close(): Promise<void>;
}

/** Seconds for which an owner is one without saying so again. */
export const OWNER_TTL = 15;

/** @param domain with a dot at its end @returns the key of the owner, outside of what SkyDNS serves */
export function ownerKey(domain: string): string {
  return `/portolan/kube2sky/${domain.replace(/\.$/, '')}`;
}
