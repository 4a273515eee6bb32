/**
 * Keys by version 2 of the API: the folder read whole, then one change after the other.
 */
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { EtcdSettings } from '../client/settings.ts';
import { EtcdV2Client } from '../client/v2-client.ts';
import type { FolderNode } from '../client/v2-messages.ts';
import { ConnectionLoop, type Followed } from './connection-loop.ts';
import type { FeedStats, KeyFeed, KeySink } from './key-feed.ts';

export class V2Feed implements KeyFeed, Followed {
  readonly #client: EtcdV2Client;
  readonly #folder: string;
  readonly #loop: ConnectionLoop;
  #sink: KeySink | undefined;
  #index = 0;

  /** @param prefix of the keys, with the slash at its end */
  constructor(settings: EtcdSettings, prefix: string, clock: Clock, log: Log) {
    this.#client = new EtcdV2Client(settings, clock);
    this.#folder = prefix;
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
    await this.#loop.stop(() => this.#client.close());
  }

  stats(): FeedStats {
    return this.#loop.stats();
  }

  async askLease(id: string): Promise<number> {
    const { nodes } = await this.#client.read(id);
    return nodes.find(({ key }) => key === id)?.ttl ?? 0;
  }

  async read(): Promise<void> {
    const { index, nodes } = await this.#client.read(this.#folder);
    this.#sink?.beginRead();
    for (const node of nodes) this.#put(node);
    await this.#sink?.completeRead();
    this.#index = index;
  }

  async watch(onCurrent: () => void): Promise<never> {
    for (;;) {
      const event = await this.#client.waitForChange(this.#folder, this.#index + 1, onCurrent);
      if (event.kind === 'none') {
        this.#index = event.next - 1;
        continue;
      }
      this.#index = event.index;
      if (event.kind === 'set') this.#put(event.node);
      else if (event.isFolder) this.#sink?.removeFolder(Buffer.from(event.key));
      else this.#sink?.remove(Buffer.from(event.key));
      this.#sink?.completeBatch();
    }
  }

  #put({ key, value, ttl }: FolderNode): void {
    const lease = ttl > 0 ? { id: key, seconds: ttl } : undefined;
    this.#sink?.put(Buffer.from(key), Buffer.from(value), lease);
  }
}
