/**
 * Stores records by version 3 of etcd's API. The owner has a key with a lease. Every transaction requires that this key is still
 * the one that the owner created, and that other clients have not changed the records meanwhile. So an instance that has lost the
 * key cannot write, however late its transaction arrives.
 */
import type { EtcdClient } from '@portolan/etcd/source/client/etcd-client.ts';
import { type Condition, endOfPrefix, type Operation } from '@portolan/etcd/source/client/messages.ts';
import { OWNER_TTL, type RecordChange, type RecordStore, type StoredRecord } from './record-store.ts';

/** Operations of a transaction; etcd accepts 128. */
const MAX_OPERATIONS = 100;
const PAGE = 10_000;

export class V3RecordStore implements RecordStore {
  readonly #client: EtcdClient;
  readonly #owner: Buffer;
  readonly #identity: Buffer;
  #lease: bigint | undefined;
  /** The revision that created our owner's key; undefined while the key is not ours. */
  #created: number | undefined;

  constructor(client: EtcdClient, owner: string, identity: string) {
    this.#client = client;
    this.#owner = Buffer.from(owner);
    this.#identity = Buffer.from(identity);
  }

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

  async write(changes: readonly RecordChange[]): Promise<boolean> {
    const created = this.#created;
    if (created === undefined) return false;
    const isOwner: Condition = { key: this.#owner, target: 'create-revision', revision: created };
    for (let at = 0; at < changes.length; at += MAX_OPERATIONS) {
      const part = changes.slice(at, at + MAX_OPERATIONS);
      const { succeeded } = await this.#client.transact({
        conditions: [isOwner, ...part.map(toCondition)],
        operations: part.map(toOperation),
      });
      if (succeeded) continue;
      // The owner's key may have changed.
      this.#created = undefined;
      return false;
    }
    return true;
  }

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

function toCondition({ key, version }: RecordChange): Condition {
  // A missing key has mod-revision 0.
  return { key: Buffer.from(key), target: 'mod-revision', revision: version ?? 0 };
}

function toOperation(change: RecordChange): Operation {
  const key = Buffer.from(change.key);
  if (change.kind === 'remove') return { kind: 'delete', key };
  return { kind: 'put', key, value: Buffer.from(change.value) };
}
