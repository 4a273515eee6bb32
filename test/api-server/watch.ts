/**
 * One open watch: initial events, the history since a resource version, then events as they come, bookmarks, the end.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { encodeFrame } from '@portolan/kubernetes/testing/protobuf-encoding.ts';
import type { CatalogEntry } from './catalog.ts';
import { makeFilter } from './list.ts';
import type { ObjectStore, StoredObject, StoreEvent } from './object-store.ts';
import { PROTOBUF, type Responder } from './responder.ts';
import { isSelector } from './selector.ts';
import { badRequest, badVersion, noInitialEvents, type Refusal, statusBody } from './status.ts';
import { formatApiVersion, isTrue, type Target } from './target.ts';

export interface WatchSettings {
  readonly clock: Clock;
  /** Milliseconds between bookmarks; an API server sends about one a minute. */
  readonly bookmarkEvery: number;
  /** Milliseconds from a change until its event is sent; lists show it at once. */
  readonly watchLag: number;
  /** Whether clients that accept Protocol Buffers get them. */
  readonly protobuf: boolean;
  /** Whether `sendInitialEvents` is known. */
  readonly watchList: boolean;
  /** What follows an in-stream ERROR 410: v1.20 was seen to do either. */
  readonly afterExpired: 'stays-open' | 'ends';
}

/** What must be told before a watch opens, if it is refused. */
export function refuseWatch(query: URLSearchParams, settings: WatchSettings): Refusal | undefined {
  const version = query.get('resourceVersion') ?? '';
  if (!/^\d*$/.test(version)) return badVersion(version);
  if (!isSelector(query.get('labelSelector') ?? '')) return badRequest('unable to parse requirement');
  const refused = query.has('sendInitialEvents') && !settings.watchList;
  return refused ? noInitialEvents() : undefined;
}

export class OpenWatch {
  readonly target: Target;
  readonly #store: ObjectStore;
  readonly #responder: Responder;
  readonly #settings: WatchSettings;
  readonly #bookmarks: boolean;
  readonly #keep: (object: StoredObject) => boolean;
  readonly #prefix: string;
  readonly #empty: string;
  readonly #isProtobuf: boolean;
  readonly #timers: Timer[] = [];
  #unsubscribe = () => {};
  /** Events up to this version are not sent: the client has said that it knows them. */
  #after: number;
  #closed = false;

  constructor(
    store: ObjectStore,
    entry: CatalogEntry,
    target: Target,
    query: URLSearchParams,
    responder: Responder,
    settings: WatchSettings,
  ) {
    this.target = target;
    this.#store = store;
    this.#responder = responder;
    this.#settings = settings;
    this.#isProtobuf = settings.protobuf && responder.acceptsProtobuf;
    this.#bookmarks = isTrue(query.get('allowWatchBookmarks'));
    this.#keep = makeFilter(target, query);
    this.#prefix = `{"kind":"${entry.kind}","apiVersion":"${formatApiVersion(target)}",`;
    this.#empty = entry.empty ?? '"spec":{},"status":{}';
    this.#after = Number(query.get('resourceVersion') ?? 0);
    this.#open(query);
  }

  /** Sends a bookmark if the client asked for them. `annotations` are those of its metadata. */
  bookmark(annotations?: Readonly<Record<string, string>>): void {
    if (!this.#bookmarks || this.#store.version < this.#after) return;
    const metadata = {
      resourceVersion: String(this.#store.version),
      creationTimestamp: null,
      ...(annotations === undefined ? {} : { annotations }),
    };
    const fields = [`"metadata":${JSON.stringify(metadata)}`, this.#empty].filter((field) => field !== '');
    this.#line('BOOKMARK', `${this.#prefix}${fields.join(',')}}`);
  }

  /** Writes any text into the stream, complete lines or not. */
  inject(text: string): void {
    this.#responder.write(text);
  }

  end(): void {
    this.close();
    this.#responder.end();
  }

  reset(): void {
    this.close();
    this.#responder.reset();
  }

  close(): void {
    this.#closed = true;
    this.#unsubscribe();
    for (const timer of this.#timers) timer.cancel();
  }

  #open(query: URLSearchParams): void {
    this.#responder.start(200, this.#isProtobuf ? { 'content-type': `${PROTOBUF};stream=watch` } : {});
    const seconds = Number(query.get('timeoutSeconds') ?? 0) || 1800;
    this.#timers.push(this.#settings.clock.after(seconds * 1000, () => this.end()));
    const initial = isTrue(query.get('sendInitialEvents'));
    if (initial || this.#after === 0) this.#sendInitial();
    else if (!this.#sendHistory()) return;
    if (initial) this.bookmark({ 'k8s.io/initial-events-end': 'true' });
    this.#unsubscribe = this.#store.subscribe(this.target.plural, (event) => this.#sendLate(event));
    this.#remind();
  }

  #sendInitial(): void {
    for (const object of this.#store.list(this.target.plural)) {
      if (this.#keep(object)) this.#line('ADDED', this.#prefix + object.text.slice(1));
    }
    this.#after = this.#store.version;
  }

  #sendHistory(): boolean {
    const events = this.#store.eventsAfter(this.target.plural, this.#after);
    if (Array.isArray(events)) {
      for (const event of events) this.#send(event);
      return true;
    }
    const message = `too old resource version: ${this.#after} (${events.oldest})`;
    this.#line('ERROR', JSON.stringify(statusBody({ code: 410, message, reason: 'Expired' })));
    if (this.#settings.afterExpired === 'ends') this.end();
    return false;
  }

  #sendLate(event: StoreEvent): void {
    const { clock, watchLag } = this.#settings;
    if (watchLag === 0) this.#send(event);
    else clock.after(watchLag, () => this.#send(event));
  }

  #send(event: StoreEvent): void {
    if (event.version <= this.#after) return;
    const type = this.#toEventType(event);
    if (type !== undefined) this.#line(type, this.#prefix + event.object.text.slice(1));
  }

  /** An object that a selector takes from now on is added for this watch, one that it takes no more is deleted. */
  #toEventType({ type, object, previous }: StoreEvent): StoreEvent['type'] | undefined {
    const isKept = this.#keep(object);
    if (type !== 'MODIFIED') return isKept ? type : undefined;
    const wasKept = previous !== undefined && this.#keep(previous);
    if (isKept) return wasKept ? type : 'ADDED';
    return wasKept ? 'DELETED' : undefined;
  }

  #line(type: string, object: string): void {
    if (this.#closed) return;
    if (this.#isProtobuf) {
      const parsed = JSON.parse(object);
      this.#responder.write(encodeFrame(type, parsed.kind, parsed));
    } else this.#responder.write(`{"type":"${type}","object":${object}}\n`);
  }

  #remind(): void {
    const timer = this.#settings.clock.after(this.#settings.bookmarkEvery, () => {
      this.bookmark();
      this.#timers.splice(this.#timers.indexOf(timer), 1);
      if (!this.#closed) this.#remind();
    });
    this.#timers.push(timer);
  }
}
