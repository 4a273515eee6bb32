/**
 * Keys by version 3 of the API: the range in pages of one revision, then a watch from that revision on.
 */
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { EtcdClient } from '../client/etcd-client.ts';
import { EtcdError } from '../client/etcd-error.ts';
import { endOfPrefix, type KeyValue, type RangeReply, type WatchReply } from '../client/messages.ts';
import type { EtcdSettings } from '../client/settings.ts';
import { ConnectionLoop, type Followed } from './connection-loop.ts';
import type { FeedStats, KeyFeed, KeySink } from './key-feed.ts';

/** Keys of a page, at first. etcd counts all keys that are left of the range for each page, so there should be few. */
const PAGE = 20_000;

export class V3Feed implements KeyFeed, Followed {
  readonly #client: EtcdClient;
  readonly #prefix: Buffer;
  readonly #loop: ConnectionLoop;
  #sink: KeySink | undefined;
  /** Up to which all is known. */
  #revision = 0;
  #cluster = 0n;
  #interrupt: () => void = () => {};

  /** @param prefix of the keys, with the slash at its end */
  constructor(settings: EtcdSettings, prefix: string, clock: Clock, log: Log) {
    this.#client = new EtcdClient(settings, clock);
    this.#prefix = Buffer.from(prefix);
    this.#loop = new ConnectionLoop(this, clock, log);
  }

  get endpoint(): string {
    return this.#client.endpoint;
  }

  start(sink: KeySink): void {
    this.#sink = sink;
    this.#loop.start();
  }

  async stop(): Promise<void> {
    this.#sink = undefined;
    await this.#loop.stop(() => {
      this.#client.close();
      this.#interrupt();
    });
  }

  stats(): FeedStats {
    return this.#loop.stats();
  }

  async askLease(id: string): Promise<number> {
    return await this.#client.leaseSeconds(BigInt(id));
  }

  async read(): Promise<void> {
    const sink = this.#sink;
    const end = endOfPrefix(this.#prefix);
    let key = this.#prefix;
    let revision = 0;
    sink?.beginRead();
    for (let limit = PAGE, more = true; more; ) {
      const page = await this.#readPage(key, end, limit, revision);
      if (page === undefined) {
        limit = Math.max(1, limit >> 2);
        continue;
      }
      if (revision === 0) {
        revision = page.revision;
        this.#cluster = page.cluster;
      }
      for (const keyValue of page.keyValues) this.#put(keyValue, page.isWithoutValues);
      const last = page.keyValues.at(-1);
      more = page.more && last !== undefined;
      if (last !== undefined) key = Buffer.concat([last.key, Buffer.of(0)]);
      limit = Math.min(PAGE, limit * 2);
    }
    await sink?.completeRead();
    this.#revision = revision;
  }

  watch(onCurrent: () => void): Promise<never> {
    return new Promise((_, reject) => {
      const revision = this.#revision + 1;
      const request = { key: this.#prefix, end: endOfPrefix(this.#prefix), revision };
      const watch = this.#client.watch(request, {
        replied: (reply) => {
          if (this.#isOtherStore(reply)) {
            watch.cancel();
            reject(new EtcdError('compacted', `${this.endpoint}: the store is another one, or an older one`));
            return;
          }
          if (reply.created) onCurrent();
          this.#tell(reply);
        },
        failed: reject,
      });
      this.#interrupt = () => {
        watch.cancel();
        reject(new EtcdError('closed', 'stopped'));
      };
    });
  }

  /** @returns undefined when the page has too many octets */
  async #readPage(
    key: Buffer,
    end: Buffer,
    limit: number,
    revision: number,
  ): Promise<(RangeReply & { readonly isWithoutValues: boolean }) | undefined> {
    const request = { key, end, limit, ...(revision > 0 && { revision }) };
    try {
      return { ...(await this.#client.range(request)), isWithoutValues: false };
    } catch (error) {
      if (!(error instanceof EtcdError) || error.failure !== 'too-large') throw error;
      if (limit > 1) return undefined;
      return { ...(await this.#client.range({ ...request, keysOnly: true })), isWithoutValues: true };
    }
  }

  /** A store that was restored from a backup counts on from an older revision. */
  #isOtherStore({ cluster, revision, created }: WatchReply): boolean {
    return (this.#cluster !== 0n && cluster !== this.#cluster) || (created && revision < this.#revision);
  }

  #tell({ events, revision, created, isFragment }: WatchReply): void {
    for (const { kind, keyValue } of events) {
      if (kind === 'put') this.#put(keyValue, false);
      else this.#sink?.remove(keyValue.key);
    }
    if (events.length > 0) this.#sink?.completeBatch();
    // The rest of a revision may be in the next fragment.
    if (isFragment || created) return;
    const last = events.at(-1);
    this.#revision = Math.max(this.#revision, last === undefined ? revision : last.keyValue.modRevision);
  }

  #put({ key, value, lease }: KeyValue, isTooLarge: boolean): void {
    this.#sink?.put(key, isTooLarge ? 'too-large' : value, lease === 0n ? undefined : { id: String(lease) });
  }
}
