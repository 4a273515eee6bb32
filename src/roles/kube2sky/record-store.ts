/**
 * Where records are written: etcd. One instance writes at a time, the one that owns a key with a lease. Every transaction demands
 * that this key is still the one that was created with it, and that nobody else has changed the records meanwhile: an instance
 * that has lost it writes nothing, however late it is.
 */
import type { EtcdClient } from '../../sources/etcd/client/etcd-client.ts';
import { type Condition, endOfPrefix, type Operation } from '../../sources/etcd/client/messages.ts';

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

/** Seconds for which an owner is one without saying so again. */
const OWNER_TTL = 15;

/** @param domain with a dot at its end @returns the key of the owner, outside of what SkyDNS serves */
export function ownerKey(domain: string): string {
  return `/portolan/kube2sky/${domain.replace(/\.$/, '')}`;
}

/** Operations of a transaction; etcd takes 128. */
const MAX_OPERATIONS = 100;
const PAGE = 10_000;

/** Calls reject with an EtcdError. */
export class EtcdRecordStore {
  readonly #client: EtcdClient;
  readonly #owner: Buffer;
  readonly #identity: Buffer;
  #lease: bigint | undefined;
  /** The revision that created the owner's key; undefined while it is not ours. */
  #created: number | undefined;

  constructor(client: EtcdClient, owner: string, identity: string) {
    this.#client = client;
    this.#owner = Buffer.from(owner);
    this.#identity = Buffer.from(identity);
  }

  /** Becomes the owner, or stays it. @returns false while another instance is */
  async own(): Promise<boolean> {
    if (this.#lease !== undefined && (await this.#client.renewLease(this.#lease)) === 0) this.#forget();
    if (this.#created !== undefined) return true;
    this.#lease ??= (await this.#client.grantLease(OWNER_TTL)).id;
    const { succeeded, revision } = await this.#client.transact({
      conditions: [{ key: this.#owner, target: 'create-revision', revision: 0 }],
      operations: [{ kind: 'put', key: this.#owner, value: this.#identity, lease: this.#lease }],
    });
    this.#created = succeeded ? revision : await this.#findOwn();
    return this.#created !== undefined;
  }

  /** All records below a key. */
  async read(folder: string): Promise<ReadonlyMap<string, StoredRecord>> {
    const records = new Map<string, StoredRecord>();
    const end = endOfPrefix(Buffer.from(`${folder}/`));
    let key: Buffer = Buffer.from(`${folder}/`);
    let revision: number | undefined;
    for (;;) {
      const reply = await this.#client.range({ key, end, limit: PAGE, ...(revision && { revision }) });
      revision ??= reply.revision;
      for (const each of reply.keyValues)
        records.set(each.key.toString(), { value: each.value.toString(), version: each.modRevision });
      const last = reply.keyValues.at(-1);
      if (!reply.more || last === undefined) return records;
      key = Buffer.concat([last.key, Buffer.from([0])]);
    }
  }

  /** @returns false if something was changed by others meanwhile: then what is stored is to be read again */
  async write(changes: readonly RecordChange[]): Promise<boolean> {
    const created = this.#created;
    if (created === undefined) return false;
    const isOwner: Condition = { key: this.#owner, target: 'create-revision', revision: created };
    for (let at = 0; at < changes.length; at += MAX_OPERATIONS) {
      const part = changes.slice(at, at + MAX_OPERATIONS);
      const { succeeded } = await this.#client.transact({
        conditions: [isOwner, ...part.map(conditionOf)],
        operations: part.map(operationOf),
      });
      if (succeeded) continue;
      // It may be the key of the owner that is another one.
      this.#created = undefined;
      return false;
    }
    return true;
  }

  /** Gives up what it owns, so that another instance goes on at once. */
  async close(): Promise<void> {
    const lease = this.#lease;
    this.#forget();
    if (lease !== undefined) await this.#client.revokeLease(lease);
  }

  /** The revision that created the owner's key, if it is ours. */
  async #findOwn(): Promise<number | undefined> {
    const [owner] = (await this.#client.range({ key: this.#owner })).keyValues;
    const isOwn = owner?.value.equals(this.#identity) === true && owner.lease === this.#lease;
    return isOwn ? owner.createRevision : undefined;
  }

  #forget(): void {
    this.#lease = undefined;
    this.#created = undefined;
  }
}

function conditionOf({ key, version }: RecordChange): Condition {
  // A key that is not there was changed last by revision 0.
  return { key: Buffer.from(key), target: 'mod-revision', revision: version ?? 0 };
}

function operationOf(change: RecordChange): Operation {
  const key = Buffer.from(change.key);
  if (change.kind === 'remove') return { kind: 'delete', key };
  return { kind: 'put', key, value: Buffer.from(change.value) };
}
