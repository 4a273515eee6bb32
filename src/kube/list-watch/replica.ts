/**
 * What is held of one kind of object, and how it is fed: by a list in pages, by a watch-list, by a watch.
 */
import type { WatchedObject } from '../objects.ts';
import type { ApiAccess } from './api-access.ts';
import type { Attempt } from './attempt.ts';
import { type Failure, ListWatchError } from './failure.ts';
import type { Intake } from './intake.ts';
import { listPages } from './list-pages.ts';
import { readOne } from './read-one.ts';
import type { Resource } from './resource.ts';
import { isOlder } from './resource-version.ts';
import type { WatchEvent } from './watch-event.ts';
import { followWatch, openWatch, openWatchList } from './watch-stream.ts';

/** What a replica tells of itself while it is fed. */
export interface ReplicaObserver {
  /** A list is under way and has brought so many objects. */
  listing(objects: number): void;
  listed(): void;
  /** A watch stands. */
  watching(): void;
  /** The server has said something that proves that we are current. */
  proven(): void;
}

const PAGE_SIZE = 500;

export class Replica<Kind extends WatchedObject> {
  readonly #intake: Intake<Kind>;
  readonly #api: ApiAccess;
  readonly #observer: ReplicaObserver;
  #position: string | undefined;
  #provenAt: number | undefined;
  #lists = 0;

  constructor(intake: Intake<Kind>, api: ApiAccess, observer: ReplicaObserver) {
    this.#intake = intake;
    this.#api = api;
    this.#observer = observer;
  }

  /** The resource version that a watch goes on from; undefined when all must be listed. */
  get position(): string | undefined {
    return this.#position;
  }

  get count(): number {
    return this.#intake.count;
  }

  /** How often it was listed whole. */
  get lists(): number {
    return this.#lists;
  }

  /** Milliseconds since the last proof that what is held is current; undefined before the first. */
  get age(): number | undefined {
    return this.#provenAt === undefined ? undefined : this.#api.clock.monotonic() - this.#provenAt;
  }

  /** All must be listed anew. What is held stays until then. */
  distrust(): void {
    this.#position = undefined;
  }

  /** @throws {ListWatchError} and whatever `attempt` explains, here and below */
  async list(resource: Resource<Kind>, attempt: Attempt): Promise<void> {
    const begun = this.#api.clock.monotonic();
    this.#observer.listing(0);
    let started = false;
    const begin = () => {
      if (!started) this.#intake.startList();
      started = true;
    };
    const take = (item: unknown) => {
      begin();
      this.#takeListed(item, resource);
    };
    const { path, only } = resource;
    const position =
      only === undefined
        ? await listPages(this.#api, path, PAGE_SIZE, attempt, take)
        : await readOne(this.#api, `${path}/${encodeURIComponent(only)}`, attempt, take);
    begin();
    this.#complete(position, begun);
  }

  /** Lists and then watches in one stream, until its end. */
  async listByWatch(resource: Resource<Kind>, attempt: Attempt): Promise<void> {
    this.#observer.listing(0);
    const response = await openWatchList(this.#api, resource, attempt);
    // A server that sends all objects but never says that this was all does not know what we asked for.
    attempt.expectTraffic(this.#api.timing.pageSilence, endless);
    this.#intake.startList();
    await followWatch(this.#api, response, attempt, (event) => {
      if (this.#position !== undefined) this.#take(event, resource);
      else this.#takeInitial(event, resource, attempt);
    });
    if (this.#position === undefined) throw new ListWatchError(endless);
  }

  /** Watches from `position` until the server ends the stream. */
  async watch(resource: Resource<Kind>, position: string, attempt: Attempt): Promise<void> {
    const response = await openWatch(this.#api, resource, position, attempt);
    const begun = this.#api.clock.monotonic();
    this.#observer.watching();
    let events = 0;
    await followWatch(this.#api, response, attempt, (event) => {
      events += 1;
      this.#take(event, resource);
    });
    const lasted = this.#api.clock.monotonic() - begun;
    if (events === 0 && lasted < this.#api.timing.watchTooShort) {
      throw new ListWatchError({ kind: 'server', words: 'the watch ended as soon as it had begun' });
    }
    this.#prove(this.#api.clock.monotonic());
    // Of one object there is no check against the server: it is read anew instead.
    if (resource.only !== undefined) this.distrust();
  }

  #takeInitial(event: WatchEvent, resource: Resource<Kind>, attempt: Attempt): void {
    if (event.kind === 'upsert') this.#takeListed(event.object, resource);
    else if (event.kind !== 'bookmark') this.#apply(event, resource);
    else if (event.endsInitialEvents && event.resourceVersion !== undefined) {
      this.#complete(event.resourceVersion, this.#api.clock.monotonic());
      this.#observer.watching();
      attempt.expectTraffic(this.#api.timing.watchSilence, silent);
    } else throw new ListWatchError(endless);
  }

  #takeListed(object: unknown, resource: Resource<Kind>): void {
    this.#intake.take(object, resource.trim);
    if (this.#intake.listed % PAGE_SIZE === 0) this.#observer.listing(this.#intake.listed);
  }

  #take(event: WatchEvent, resource: Resource<Kind>): void {
    this.#apply(event, resource);
    if ('resourceVersion' in event && event.resourceVersion !== undefined) {
      this.#position = event.resourceVersion;
    }
    this.#prove(this.#api.clock.monotonic());
  }

  #apply(event: WatchEvent, resource: Resource<Kind>): void {
    if (event.kind === 'upsert') this.#intake.take(event.object, resource.trim);
    else if (event.kind === 'delete') this.#intake.drop(event.object, resource.trim);
    else if (event.kind === 'error') throw new ListWatchError(event.failure);
    else if (event.kind === 'broken') {
      throw new ListWatchError({
        kind: 'expired',
        words: `the watch said what is no event: ${event.problem}`,
      });
    } else if (this.#wentBack(event.resourceVersion)) {
      throw new ListWatchError({ kind: 'expired', words: 'the server went back behind what we know' });
    }
  }

  #wentBack(resourceVersion: string | undefined): boolean {
    if (resourceVersion === undefined || this.#position === undefined) return false;
    return isOlder(resourceVersion, this.#position);
  }

  /** `begun` is when the server was asked: what it said is at least as new. */
  #complete(position: string, begun: number): void {
    this.#intake.completeList();
    this.#position = position;
    this.#lists += 1;
    this.#provenAt = begun;
    this.#observer.listed();
  }

  #prove(now: number): void {
    this.#provenAt = now;
    this.#observer.proven();
  }
}

const endless: Failure = { kind: 'no-watch-list', words: 'the end of the list did not come' };
const silent: Failure = { kind: 'network', words: 'the watch fell silent, without even a bookmark' };
