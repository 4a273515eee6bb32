/**
 * Stores records by version 2 of etcd's API, which has no transactions and no leases.
 *
 * The owner has a key that expires unless the owner renews it in time. It writes only while its key cannot have expired, and
 * each write requires that the record has not changed since it was read.
 *
 * This version does not list keys that begin with an underscore, such as those of ports. So their names are kept below another
 * key: a name is added before its record is written, and removed after its record.
 */
import type { EtcdV2Client } from '@portolan/etcd/v2/client.ts';
import type { FolderNode } from '@portolan/etcd/v2/messages.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { ItemFault, ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { OWNER_TTL, type RecordChange, type RecordStore, type StoredRecord } from './record-store.ts';

export interface V2RecordStoreOptions {
  readonly client: EtcdV2Client;
  /** The key of the owner. */
  readonly owner: string;
  /** Identity of this instance. */
  readonly identity: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds before the owner's key expires in which it does not write, since a write may take this long. */
const MARGIN = 6_000;
/** Concurrent calls. */
const CONCURRENCY = 16;
/** Milliseconds after which unlisted records are read again, in case another client has changed them. */
const REREAD = 300_000;

/** @deprecated Use `V3RecordStore`. */
export class V2RecordStore implements RecordStore {
  readonly #options: V2RecordStoreOptions;
  readonly #guard: ItemGuard;
  /** Milliseconds: the owner's key exists at least until then. */
  #ownedUntil = Number.NEGATIVE_INFINITY;
  /** Unlisted records as last read, without those written since, and the time of the read. */
  readonly #hidden = new Map<string, StoredRecord>();
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(options: V2RecordStoreOptions) {
    this.#options = options;
    const { clock, log } = options;
    this.#guard = new ItemGuard({ source: 'etcd', clock, log });
  }

  async own(): Promise<boolean> {
    const { client, owner, identity, clock } = this.#options;
    const until = clock.monotonic() + OWNER_TTL * 1000 - MARGIN;
    const ttl = OWNER_TTL;
    const isOwner =
      (await client.set(owner, identity, { ttl, value: identity })) ||
      (await client.set(owner, identity, { ttl, exists: false }));
    this.#ownedUntil = isOwner ? until : Number.NEGATIVE_INFINITY;
    if (!isOwner) this.#readAt = Number.NEGATIVE_INFINITY;
    return isOwner;
  }

  async read(folder: string): Promise<ReadonlyMap<string, StoredRecord>> {
    const { client, clock } = this.#options;
    const records = new Map<string, StoredRecord>();
    for (const { key, value, modifiedIndex } of (await client.read(folder)).nodes)
      records.set(key, { value, version: modifiedIndex });
    if (clock.monotonic() - this.#readAt > REREAD) {
      this.#hidden.clear();
      this.#readAt = clock.monotonic();
    }
    const { nodes: listed } = await client.read(this.#toListKey(folder));
    const names = listed.map((node) =>
      this.#guard.take(
        () => node.key,
        () => readName(node, folder),
      ),
    );
    await forEach(
      names.filter((name) => name !== undefined),
      async (key) => {
        if (!this.#hidden.has(key)) await this.#readHidden(key);
        const record = this.#hidden.get(key);
        if (record !== undefined) records.set(key, record);
      },
    );
    return records;
  }

  async write(changes: readonly RecordChange[]): Promise<boolean> {
    let isWritten = true;
    // Write new records first, remove old ones last.
    for (const kind of ['put', 'remove'] as const) {
      const part = changes.filter((change) => change.kind === kind);
      await forEach(part, async (change) => {
        if (isWritten && !(await this.#change(change))) isWritten = false;
      });
    }
    if (!isWritten) this.#readAt = Number.NEGATIVE_INFINITY;
    return isWritten;
  }

  async close(): Promise<void> {
    const { client, owner, identity } = this.#options;
    this.#ownedUntil = Number.NEGATIVE_INFINITY;
    await client.remove(owner, { value: identity });
  }

  /** @returns whether the change was made */
  async #change(change: RecordChange): Promise<boolean> {
    const { client, clock } = this.#options;
    if (clock.monotonic() >= this.#ownedUntil) return false;
    const { key, version } = change;
    const name = isUnlisted(key) ? this.#toListKey(key) : undefined;
    this.#hidden.delete(key);
    if (change.kind === 'put') {
      if (name !== undefined) await client.set(name, key);
      return await client.set(
        key,
        change.value,
        version === undefined ? { exists: false } : { modifiedIndex: version },
      );
    }
    if (!(await client.remove(key, { modifiedIndex: change.version }))) return false;
    await this.#removeEmptyFolders(key);
    if (name === undefined) return true;
    await client.remove(name);
    await this.#removeEmptyFolders(name);
    return true;
  }

  /** Removes empty folders above a key. */
  async #removeEmptyFolders(key: string): Promise<void> {
    for (let at = key.lastIndexOf('/'); at > 0; at = key.lastIndexOf('/', at - 1))
      if (!(await this.#options.client.removeFolder(key.slice(0, at)))) return;
  }

  async #readHidden(key: string): Promise<void> {
    const node = (await this.#options.client.read(key)).nodes.find((each) => each.key === key);
    if (node !== undefined) this.#hidden.set(key, { value: node.value, version: node.modifiedIndex });
  }

  /** The key of the list entry for an unlisted record, or of the list for a folder. */
  #toListKey(key: string): string {
    return `${this.#options.owner}.unlisted${key.replaceAll('/_', '/.')}`;
  }
}

/** The key in a list entry. @throws ItemFault if it is outside the folder: any client may have written the entry */
function readName({ value }: FolderNode, folder: string): string {
  if (value.startsWith(`${folder}/`) && isUnlisted(value)) return value;
  throw new ItemFault('malformed', `not an unlisted key below ${folder}: ${value.slice(0, 80)}`);
}

/** Whether a key is unlisted because of one of its parts. */
function isUnlisted(key: string): boolean {
  return key.includes('/_');
}

/** Runs `work` on all items concurrently. */
async function forEach<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  let next = 0;
  const run = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, items.length) }, run));
}
