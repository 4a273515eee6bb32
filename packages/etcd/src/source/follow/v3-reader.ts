/**
 * Reads keys by version 3 of the API: the range in pages of one revision, then a watch from that revision on.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { TimeSlice } from '@portolan/kernel/base/time-slice.ts';
import { EtcdClient } from '../client/etcd-client.ts';
import { EtcdError } from '../client/etcd-error.ts';
import { endOfPrefix, type KeyValue, type RangePage, type WatchReply } from '../client/messages.ts';
import type { EtcdSettings } from '../client/settings.ts';
import type { KeyReader, KeySink } from './key-reader.ts';

/**
 * For each page etcd counts all remaining keys of the range, so there should be few pages. The first page shows how many keys
 * give a page of this size.
 */
const PAGE_OCTETS = 4 * 1024 * 1024;
const FIRST_KEYS = 1_000;
const MAX_KEYS = 100_000;

const ZERO = Buffer.of(0);

interface KeyPage extends RangePage {
  /** Keys requested. */
  readonly limit: number;
  readonly isWithoutValues: boolean;
}

export class V3Reader implements KeyReader {
  readonly #client: EtcdClient;
  readonly #prefix: Buffer;
  readonly #clock: Clock;
  /** All changes up to this revision are known. */
  #revision = 0;
  #cluster = 0n;
  #interrupt: () => void = () => {};

  /** @param prefix of the keys, with the slash at its end */
  constructor(settings: EtcdSettings, prefix: string, clock: Clock) {
    this.#client = new EtcdClient(settings, clock);
    this.#prefix = Buffer.from(prefix);
    this.#clock = clock;
  }

  get endpoint(): string {
    return this.#client.endpoint;
  }

  get cluster(): string | undefined {
    return this.#cluster === 0n ? undefined : this.#cluster.toString(16);
  }

  close(): void {
    this.#client.close();
    this.#interrupt();
  }

  async askLease(id: string): Promise<number> {
    return await this.#client.leaseSeconds(BigInt(id));
  }

  async read(sink: KeySink): Promise<void> {
    sink.beginRead();
    let page = await this.#readPage(this.#prefix, FIRST_KEYS, 0);
    const { revision, cluster } = page;
    for (;;) {
      const { more, lastKey } = page;
      // Request the next page while this one is processed.
      const next =
        more && lastKey !== undefined
          ? this.#readPage(Buffer.concat([lastKey, ZERO]), nextLimit(page), revision)
          : undefined;
      next?.catch(() => {});
      await this.#putPage(sink, page);
      if (next === undefined) break;
      page = await next;
    }
    this.#cluster = cluster;
    await sink.completeRead();
    this.#revision = revision;
  }

  watch(sink: KeySink, onCurrent: () => void): Promise<never> {
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
          this.#tell(sink, reply);
        },
        failed: reject,
      });
      this.#interrupt = () => {
        watch.cancel();
        reject(new EtcdError('closed', 'stopped'));
      };
    });
  }

  /**
   * Reads fewer keys than the limit if they are too large for one message.
   *
   * @param revision to read at; 0: the latest
   */
  async #readPage(key: Buffer, limit: number, revision: number): Promise<KeyPage> {
    const end = endOfPrefix(this.#prefix);
    const request = { key, end, limit, ...(revision > 0 && { revision }) };
    try {
      return { ...(await this.#client.rangePage(request)), limit, isWithoutValues: false };
    } catch (error) {
      if (!(error instanceof EtcdError) || error.failure !== 'too-large') throw error;
      if (limit > 1) return await this.#readPage(key, Math.max(1, limit >> 2), revision);
      const keys = await this.#client.rangePage({ ...request, keysOnly: true });
      return { ...keys, limit, isWithoutValues: true };
    }
  }

  async #putPage(sink: KeySink, { keyValues, isWithoutValues }: KeyPage): Promise<void> {
    const slice = new TimeSlice(this.#clock);
    for (const keyValue of keyValues()) {
      put(sink, keyValue, isWithoutValues);
      if (slice.isOver) await slice.next();
    }
  }

  /** A store that was restored from a backup continues from an older revision. */
  #isOtherStore({ cluster, revision, created }: WatchReply): boolean {
    return (this.#cluster !== 0n && cluster !== this.#cluster) || (created && revision < this.#revision);
  }

  #tell(sink: KeySink, { events, revision, created, isFragment }: WatchReply): void {
    for (const { kind, keyValue } of events) {
      if (kind === 'put') put(sink, keyValue, false);
      else sink.remove(keyValue.key);
    }
    if (events.length > 0) sink.completeBatch();
    // The next fragment may have the rest of the revision.
    if (isFragment || created) return;
    const last = events.at(-1);
    this.#revision = Math.max(this.#revision, last === undefined ? revision : last.keyValue.modRevision);
  }
}

/** The limit of the next page, by the size of this page's keys. It grows slowly: the next keys may be larger. */
function nextLimit({ limit, octets }: KeyPage): number {
  const fitting = Math.floor((PAGE_OCTETS / octets) * limit);
  return Math.max(1, Math.min(MAX_KEYS, fitting, limit * 10));
}

function put(sink: KeySink, { key, value, lease }: KeyValue, isTooLarge: boolean): void {
  sink.put(key, isTooLarge ? 'too-large' : value, lease === 0n ? undefined : { id: String(lease) });
}
