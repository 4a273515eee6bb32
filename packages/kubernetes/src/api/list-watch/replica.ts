/**
 * The objects held of one kind, and the ways they arrive: list, streamed list, watch.
 */
import type { WatchedObject } from '../../objects/objects.ts';
import type { ApiAccess } from './api-access.ts';
import type { ConnectionAttempt } from './attempt.ts';
import { type Failure, ListWatchError } from './failure.ts';
import type { Intake } from './intake.ts';
import { type Freshness, PagedList } from './list-pages.ts';
import { readOne } from './read-one.ts';
import type { Resource } from './resource.ts';
import { isOlder } from './resource-version.ts';
import type { RetryMemory } from './retry-policy.ts';
import type { CountAt, Progress } from './server-check.ts';
import type { WatchEvent } from './watch-event.ts';
import { followWatch, openWatch, openWatchList } from './watch-stream.ts';

/** Called while objects arrive. */
export interface ReplicaObserver {
  /** A list is under way and has delivered this many objects. */
  listing(objects: number): void;
  /** A page of a list has arrived completely. */
  page(): void;
  /** All objects have come; with `isMixed` not all as of one version, so that they must be listed again. */
  listed(isMixed: boolean): void;
  /** A watch is open. */
  watching(): void;
  /** The server has sent an event or a bookmark. */
  proven(): void;
}

/** Progress of a list is reported after each this many objects. */
const REPORT_EVERY = 500;

export class Replica<Kind extends WatchedObject> {
  readonly #intake: Intake<Kind>;
  readonly #api: ApiAccess;
  readonly #observer: ReplicaObserver;
  readonly #progress = new Set<Progress & { readonly entries: CountAt[] }>();
  #position: string | undefined;
  /** A list in pages that broke off. */
  #unfinished: PagedList | undefined;
  #provenAt: number | undefined;
  #lists = 0;

  constructor(intake: Intake<Kind>, api: ApiAccess, observer: ReplicaObserver) {
    this.#intake = intake;
    this.#api = api;
    this.#observer = observer;
  }

  /** The resource version that was reached; undefined before the first list. */
  get position(): string | undefined {
    return this.#position;
  }

  get count(): number {
    return this.#intake.count;
  }

  /** How often it was listed completely. */
  get lists(): number {
    return this.#lists;
  }

  /** Milliseconds since the objects held were last proven current; undefined before the first proof. */
  get age(): number | undefined {
    return this.#provenAt === undefined ? undefined : this.#api.clock.monotonic() - this.#provenAt;
  }

  /** Records that the objects held were current at a time of the monotonic clock. */
  proveCurrent(at: number): void {
    this.#provenAt = Math.max(at, this.#provenAt ?? at);
  }

  /** Records the progress of the watch from now on. */
  follow(): Progress {
    const progress = {
      entries: [{ resourceVersion: this.#position ?? '', count: this.count }],
      onEntry: () => {},
      end: () => {
        this.#progress.delete(progress);
      },
    };
    this.#progress.add(progress);
    return progress;
  }

  /**
   * Lists from the latest version in pages, from where such a list broke off before; else all at once.
   *
   * @returns whether the objects are not all as of one version
   * @throws {ListWatchError} and errors that `attempt` explains, here and below
   */
  async list(
    resource: Resource<Kind>,
    from: RetryMemory['listFrom'],
    attempt: ConnectionAttempt,
  ): Promise<boolean> {
    const { path, only, accept } = resource;
    if (only !== undefined) {
      await this.#readOne(resource, `${path}/${encodeURIComponent(only)}`, attempt);
      return false;
    }
    const broken = from === 'latest' && this.#unfinished?.path === path ? this.#unfinished : undefined;
    this.#unfinished = undefined;
    const list = broken ?? new PagedList(path, this.#freshness(from), this.#api.clock.monotonic(), accept);
    this.#observer.listing(broken === undefined ? 0 : this.#intake.listed);
    const take = this.#taker(resource, broken !== undefined);
    try {
      const position = await list.read(this.#api, attempt, take.item, () => this.#observer.page());
      take.begin();
      this.#complete(position, list.begun, list.isMixed);
    } catch (error) {
      if (list.mayGoOn(attempt.explain(error))) this.#unfinished = list;
      throw error;
    }
    return list.isMixed;
  }

  /** Lists and then watches in one stream, until its end. */
  async stream(resource: Resource<Kind>, attempt: ConnectionAttempt): Promise<void> {
    this.#unfinished = undefined;
    this.#observer.listing(0);
    const response = await openWatchList(this.#api, resource, attempt);
    // A server that sends all objects without the final bookmark does not support the request.
    attempt.expectTraffic(this.#api.timing.pageSilence, endless);
    this.#intake.startList();
    let isListed = false;
    await followWatch(this.#api, response, attempt, (event) => {
      if (isListed) this.#take(event, resource);
      else isListed = this.#takeInitial(event, resource, attempt);
    });
    if (!isListed) throw new ListWatchError(endless);
  }

  /** Watches from the version that was reached until the server ends the stream. */
  async watch(resource: Resource<Kind>, attempt: ConnectionAttempt): Promise<void> {
    const response = await openWatch(this.#api, resource, this.#position ?? '', attempt);
    const begun = this.#api.clock.monotonic();
    this.#observer.watching();
    let events = 0;
    await followWatch(this.#api, response, attempt, (event) => {
      events += 1;
      this.#take(event, resource);
    });
    const lasted = this.#api.clock.monotonic() - begun;
    if (events === 0 && lasted < this.#api.timing.minUsefulWatch) {
      throw new ListWatchError({ kind: 'server', words: 'the watch ended as soon as it had begun' });
    }
  }

  async #readOne(resource: Resource<Kind>, path: string, attempt: ConnectionAttempt): Promise<void> {
    const begun = this.#api.clock.monotonic();
    this.#observer.listing(0);
    const take = this.#taker(resource, false);
    const position = await readOne(this.#api, path, attempt, take.item);
    take.begin();
    this.#complete(position, begun, false);
  }

  /** Takes the objects of a list, which begins with the first, unless it is under way. */
  #taker(resource: Resource<Kind>, isUnderWay: boolean) {
    let hasBegun = isUnderWay;
    const begin = () => {
      if (!hasBegun) this.#intake.startList();
      hasBegun = true;
    };
    const item = (object: unknown) => {
      begin();
      this.#takeListed(object, resource);
    };
    return { begin, item };
  }

  #freshness(from: RetryMemory['listFrom']): Freshness {
    if (from === 'latest') return { kind: 'latest' };
    const resourceVersion = this.#position ?? '';
    if (from === 'cache' || resourceVersion === '') return { kind: 'any' };
    return { kind: 'not-older-than', resourceVersion };
  }

  /** @returns whether all objects have arrived */
  #takeInitial(event: WatchEvent, resource: Resource<Kind>, attempt: ConnectionAttempt): boolean {
    if (event.kind === 'upsert') this.#takeListed(event.object, resource);
    // With etcd 3.4 the server accepts a streamed list but cannot finish it.
    else if (event.kind === 'error' && event.failure.kind === 'server')
      throw new ListWatchError({ kind: 'no-watch-list', words: event.failure.words });
    else if (event.kind !== 'bookmark') this.#apply(event, resource);
    else if (event.endsInitialEvents && event.resourceVersion !== undefined) {
      this.#complete(event.resourceVersion, this.#api.clock.monotonic(), false);
      attempt.allowSilence();
      this.#observer.watching();
      return true;
    } else throw new ListWatchError(endless);
    return false;
  }

  #takeListed(object: unknown, resource: Resource<Kind>): void {
    this.#intake.take(object, resource.trim);
    if (this.#intake.listed % REPORT_EVERY === 0) this.#observer.listing(this.#intake.listed);
  }

  #take(event: WatchEvent, resource: Resource<Kind>): void {
    if (event.kind === 'bookmark' && this.#wentBack(event.resourceVersion))
      throw new ListWatchError(doubtful('the server went back behind the version that was reached'));
    this.#apply(event, resource);
    if ('resourceVersion' in event && event.resourceVersion !== undefined) {
      this.#position = event.resourceVersion;
    }
    this.#provenAt = this.#api.clock.monotonic();
    this.#observer.proven();
    for (const progress of this.#progress) {
      progress.entries.push({ resourceVersion: this.#position ?? '', count: this.count });
      progress.onEntry();
    }
  }

  #apply(event: WatchEvent, resource: Resource<Kind>): void {
    if (event.kind === 'upsert') this.#intake.take(event.object, resource.trim);
    else if (event.kind === 'delete') this.#intake.drop(event.object, resource.trim);
    else if (event.kind === 'error') throw new ListWatchError(event.failure);
    else if (event.kind === 'broken')
      throw new ListWatchError(doubtful(`a watch sent what is no event: ${event.problem}`));
  }

  #wentBack(resourceVersion: string | undefined): boolean {
    if (resourceVersion === undefined || this.#position === undefined) return false;
    return isOlder(resourceVersion, this.#position);
  }

  /** `begun` is when the server was asked: its answer is at least as new. */
  #complete(position: string, begun: number, isMixed: boolean): void {
    this.#intake.completeList();
    this.#position = position;
    this.#lists += 1;
    this.#provenAt = begun;
    this.#observer.listed(isMixed);
  }
}

const endless: Failure = { kind: 'no-watch-list', words: 'the end of the list did not come' };

function doubtful(words: string): Failure {
  return { kind: 'expired', why: 'doubtful', words };
}
