/**
 * Reads keys by version 2 of the API: the complete folder, then one change after the other.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { TimeSlice } from '@portolan/kernel/base/time-slice.ts';
import type { EtcdSettings } from '../source/client/settings.ts';
import type { KeyReader, KeySink } from '../source/follow/key-reader.ts';
import { EtcdV2Client } from './client.ts';
import type { FolderNode } from './messages.ts';

/** @deprecated Use `V3Reader`. */
export class V2Reader implements KeyReader {
  readonly #client: EtcdV2Client;
  readonly #folder: string;
  readonly #clock: Clock;
  #index = 0;

  /** @param prefix of the keys, with its final slash */
  constructor(settings: EtcdSettings, prefix: string, clock: Clock) {
    this.#client = new EtcdV2Client(settings, clock);
    this.#folder = prefix;
    this.#clock = clock;
  }

  get endpoint(): string {
    return this.#client.endpoint;
  }

  get cluster(): string | undefined {
    return this.#client.cluster;
  }

  close(): void {
    this.#client.close();
  }

  async askLease(id: string): Promise<number> {
    const { nodes } = await this.#client.read(id);
    return nodes.find(({ key }) => key === id)?.ttl ?? 0;
  }

  async read(sink: KeySink): Promise<void> {
    const { index, nodes } = await this.#client.read(this.#folder);
    sink.beginRead();
    const slice = new TimeSlice(this.#clock);
    for (const node of nodes) {
      put(sink, node);
      if (slice.isOver) await slice.next();
    }
    await sink.completeRead();
    this.#index = index;
  }

  async watch(sink: KeySink, onCurrent: () => void): Promise<never> {
    for (;;) {
      const event = await this.#client.waitForChange(this.#folder, this.#index + 1, onCurrent);
      if (event.kind === 'none') {
        this.#index = event.next - 1;
        continue;
      }
      this.#index = event.index;
      if (event.kind === 'set') put(sink, event.node);
      else if (event.isFolder) sink.removeFolder(Buffer.from(event.key));
      else sink.remove(Buffer.from(event.key));
      sink.completeBatch();
    }
  }
}

function put(sink: KeySink, { key, value, ttl }: FolderNode): void {
  const lease = ttl > 0 ? { id: key, seconds: ttl } : undefined;
  sink.put(Buffer.from(key), Buffer.from(value), lease);
}
