/**
 * One kind of object, kept the same as on the API server: list, watch, and begin again for as long as it takes.
 *
 * One loop makes one try after the other. A try either goes on from where we stand or lists anew; what it failed by
 * decides what is tried next and when.
 */
import type { ClusterObject, ObjectSink } from '../objects.ts';
import type { ApiAccess } from './api-access.ts';
import { Attempt } from './attempt.ts';
import { BackOff } from './back-off.ts';
import { type Failure, ListWatchError, type WaitingKind } from './failure.ts';
import { Intake } from './intake.ts';
import { listPages } from './list-pages.ts';
import type { Resource, Ways } from './resource.ts';
import { isOlder } from './resource-version.ts';
import { type CheckSubject, ServerCheck, type Verdict } from './server-check.ts';
import { describeState, moveWatch, type WatchState } from './state.ts';
import { WarningLimit } from './warning-limit.ts';
import type { WatchEvent } from './watch-event.ts';
import { followWatch, openWatch, openWatchList } from './watch-stream.ts';

/** How one kind stands. */
export interface KindStatus {
  /** `services`, `endpoints`, `namespaces` or `pods`. */
  readonly title: string;
  readonly state: WatchState;
  /** Listed whole at least once. */
  readonly synced: boolean;
  /** Milliseconds since the last proof that what we hold is current; undefined before the first. */
  readonly age: number | undefined;
  readonly objects: number;
  /** How often it was listed whole, and how often because a check or the server said that we were wrong. */
  readonly lists: number;
  readonly repairs: number;
  /** Objects that could not be understood. */
  readonly malformed: number;
  /** The state in words. */
  readonly words: string;
}

const PAGE_SIZE = 500;

export class Reflector<Kind extends ClusterObject> {
  readonly #title: string;
  readonly #ways: Ways<Kind>;
  readonly #api: ApiAccess;
  readonly #changed: () => void;
  readonly #intake: Intake<Kind>;
  readonly #warnings: WarningLimit;
  readonly #backOff: BackOff;
  readonly #check: ServerCheck;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #state: WatchState = { kind: 'idle' };
  #way: Resource<Kind>;
  /** Refusals of better ways in this round. */
  #refusal: Failure | undefined;
  #attempt: Attempt | undefined;
  /** Where the watch goes on; undefined when all must be listed. */
  #position: string | undefined;
  #watchingSince = Number.POSITIVE_INFINITY;
  #watchList = true;
  #synced = false;
  #provenAt: number | undefined;
  #lists = 0;
  #repairs = 0;

  /** `changed` is called after each change of state. */
  constructor(title: string, ways: Ways<Kind>, sink: ObjectSink<Kind>, api: ApiAccess, changed: () => void) {
    this.#title = title;
    this.#ways = ways;
    this.#way = ways[0];
    this.#api = api;
    this.#changed = changed;
    this.#warnings = new WarningLimit(api.log, api.clock);
    this.#intake = new Intake(sink, (object, problem) =>
      this.#warnings.warn('an object is left out: it cannot be understood', { kind: title, object, problem }),
    );
    this.#backOff = new BackOff(api.timing, api.random);
    this.#check = new ServerCheck(
      api,
      this.#stop.signal,
      () => this.#subject(),
      (verdict) => this.#repair(verdict),
    );
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends the watch; no sink is called after that. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  status(): KindStatus {
    return {
      title: this.#title,
      state: this.#state,
      synced: this.#synced,
      age: this.#provenAt === undefined ? undefined : this.#api.clock.monotonic() - this.#provenAt,
      objects: this.#intake.count,
      lists: this.#lists,
      repairs: this.#repairs,
      malformed: this.#warnings.total,
      words: describeState(this.#state),
    };
  }

  async #run(): Promise<void> {
    this.#check.plan();
    while (!this.#stop.signal.aborted) {
      const failure = await this.#try();
      if (failure !== undefined) await this.#recover(failure);
    }
    this.#move({ kind: 'idle' });
  }

  async #try(): Promise<Failure | undefined> {
    const attempt = new Attempt(this.#stop.signal, this.#api.clock);
    this.#attempt = attempt;
    try {
      if (this.#position !== undefined) await this.#watch(attempt, this.#position);
      else if (this.#watchList) await this.#listByWatch(attempt);
      else await this.#list(attempt);
      return undefined;
    } catch (error) {
      return attempt.explain(error);
    } finally {
      attempt.close();
    }
  }

  async #list(attempt: Attempt): Promise<void> {
    const begun = this.#api.clock.monotonic();
    this.#moveToListing();
    let started = false;
    const begin = () => {
      if (!started) this.#intake.startList();
      started = true;
    };
    const position = await listPages(this.#api, this.#way.path, PAGE_SIZE, attempt, (item) => {
      begin();
      this.#takeListed(item);
    });
    begin();
    this.#completeList(position, begun);
  }

  async #listByWatch(attempt: Attempt): Promise<void> {
    this.#moveToListing();
    const response = await openWatchList(this.#api, this.#way.path, attempt);
    // A server that sends all objects but never says that this was all does not know what we asked for.
    const { pageSilence, watchSilence } = this.#api.timing;
    attempt.expectTraffic(pageSilence, { kind: 'no-watch-list', words: 'the end of the list did not come' });
    this.#intake.startList();
    await followWatch(this.#api, response, attempt, (event) => {
      if (this.#position !== undefined) this.#take(event);
      else if (this.#takeInitial(event)) attempt.expectTraffic(watchSilence, silence);
    });
    if (this.#position === undefined) {
      throw new ListWatchError({
        kind: 'no-watch-list',
        words: 'the watch ended before the list was complete',
      });
    }
  }

  async #watch(attempt: Attempt, position: string): Promise<void> {
    const response = await openWatch(this.#api, this.#way.path, position, attempt);
    const begun = this.#moveToWatching();
    // Back after a failure, the server may be another one that accepts our version without knowing it.
    if (this.#backOff.failures > 0) this.#check.planSoon();
    let events = 0;
    await followWatch(this.#api, response, attempt, (event) => {
      events += 1;
      this.#take(event);
    });
    const lasted = this.#api.clock.monotonic() - begun;
    if (events === 0 && lasted < this.#api.timing.watchTooShort) {
      throw new ListWatchError({ kind: 'server', words: 'the watch ended as soon as it had begun' });
    }
    this.#succeed();
  }

  /** @returns whether the list is complete now. */
  #takeInitial(event: WatchEvent): boolean {
    if (event.kind === 'bookmark' && event.endsInitialEvents && event.resourceVersion !== undefined) {
      this.#completeList(event.resourceVersion, this.#api.clock.monotonic());
      this.#moveToWatching();
      return true;
    }
    if (event.kind === 'bookmark') {
      throw new ListWatchError({
        kind: 'no-watch-list',
        words: 'a bookmark came before the end of the list',
      });
    }
    if (event.kind === 'upsert') this.#takeListed(event.object);
    else this.#apply(event);
    return false;
  }

  #takeListed(object: unknown): void {
    this.#intake.take(object, this.#way.trim);
    if (this.#intake.listed % PAGE_SIZE === 0) this.#moveToListing();
  }

  #take(event: WatchEvent): void {
    if (event.kind === 'bookmark' && this.#position !== undefined && event.resourceVersion !== undefined) {
      if (isOlder(event.resourceVersion, this.#position)) {
        throw new ListWatchError({ kind: 'expired', words: 'the server went back behind what we know' });
      }
    }
    this.#apply(event);
    if ('resourceVersion' in event && event.resourceVersion !== undefined) {
      this.#position = event.resourceVersion;
    }
    this.#provenAt = this.#api.clock.monotonic();
    this.#succeed();
  }

  #apply(event: WatchEvent): void {
    if (event.kind === 'upsert') this.#intake.take(event.object, this.#way.trim);
    else if (event.kind === 'delete') this.#intake.drop(event.object, this.#way.trim);
    else if (event.kind === 'error') throw new ListWatchError(event.failure);
    else if (event.kind === 'broken') {
      throw new ListWatchError({
        kind: 'expired',
        words: `the watch said what is no event: ${event.problem}`,
      });
    }
  }

  #completeList(position: string, begun: number): void {
    this.#intake.completeList();
    this.#position = position;
    this.#synced = true;
    this.#lists += 1;
    this.#provenAt = begun;
    this.#refusal = undefined;
    this.#api.log.info('listed', { kind: this.#title, objects: this.#intake.count, path: this.#way.path });
  }

  #succeed(): void {
    if (this.#backOff.failures > 0) this.#backOff.reset();
  }

  async #recover(failure: Failure): Promise<void> {
    // A watch that stood for long was a success, even if it said nothing.
    const stood = this.#api.clock.monotonic() - this.#watchingSince;
    if (this.#state.kind === 'watching' && stood > this.#api.timing.watchLongEnough) this.#succeed();
    switch (failure.kind) {
      case 'stopped':
        return;
      case 'no-watch-list':
        this.#watchList = false;
        this.#api.log.debug('the server has no watch-list', { kind: this.#title, reason: failure.words });
        return;
      case 'unexpected':
      case 'expired':
        this.#position = undefined;
        this.#sayWhy(failure);
        // The first time at once; a server that keeps saying so is left in peace for a while.
        if (this.#backOff.failures > 0) await this.#wait('server', failure.words, this.#backOff.next());
        else this.#backOff.next();
        return;
      case 'missing-kind':
      case 'permission':
        this.#position = undefined;
        return this.#tryNextWay(failure);
      default:
        await this.#wait(failure.kind, failure.words, this.#backOff.next(failure.retryAfter));
    }
  }

  #sayWhy(failure: Failure): void {
    const fields = { kind: this.#title, reason: failure.words };
    if (failure.kind !== 'unexpected') this.#api.log.info('listing anew', fields);
    else {
      const stack = failure.error instanceof Error ? failure.error.stack : undefined;
      this.#api.log.error('listing anew after a mistake of this program', { ...fields, stack });
    }
  }

  async #tryNextWay(failure: Failure & { readonly kind: WaitingKind }): Promise<void> {
    // Of several refusals the one to act on is a permission that can be given.
    const worse = this.#refusal?.kind === 'permission' ? this.#refusal : failure;
    const next = this.#ways[this.#ways.indexOf(this.#way) + 1];
    this.#way = next ?? this.#ways[0];
    this.#refusal = next === undefined ? undefined : worse;
    if (next === undefined) await this.#wait(worse.kind, worse.words, this.#backOff.next());
  }

  async #wait(kind: WaitingKind, words: string, milliseconds: number): Promise<void> {
    const until = this.#api.clock.now() + milliseconds;
    this.#api.log.warn('the API server cannot be followed', {
      kind: this.#title,
      reason: kind,
      words,
      retryIn: Math.round(milliseconds),
    });
    this.#move({ kind: 'waiting', until, reason: { kind, words } });
    await this.#sleep(milliseconds);
  }

  #sleep(milliseconds: number): Promise<void> {
    const { signal } = this.#stop;
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const wake = () => {
        timer.cancel();
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const timer = this.#api.clock.after(milliseconds, wake);
      signal.addEventListener('abort', wake);
    });
  }

  #moveToListing(): void {
    this.#move({ kind: 'listing', path: this.#way.path, objects: this.#intake.listed });
  }

  /** @returns the moment */
  #moveToWatching(): number {
    this.#watchingSince = this.#api.clock.monotonic();
    this.#move({ kind: 'watching', path: this.#way.path });
    return this.#watchingSince;
  }

  #move(to: WatchState): void {
    this.#state = moveWatch(this.#state, to);
    this.#changed();
  }

  #subject(): CheckSubject | undefined {
    if (this.#state.kind !== 'watching' || this.#position === undefined) return undefined;
    const { path } = this.#way;
    const betterPaths = this.#ways.slice(0, this.#ways.indexOf(this.#way)).map((way) => way.path);
    return { path, resourceVersion: this.#position, count: this.#intake.count, betterPaths };
  }

  #repair(verdict: Exclude<Verdict, { kind: 'same' | 'unknown' }>): void {
    if (verdict.kind === 'better-way') {
      this.#way = this.#ways.find((way) => way.path === verdict.path) ?? this.#way;
      this.#attempt?.fail({ kind: 'expired', words: `a better way has opened: ${verdict.path}` });
      return;
    }
    this.#repairs += 1;
    this.#api.log.warn('the store does not match the API server', {
      kind: this.#title,
      reason: verdict.words,
    });
    this.#attempt?.fail({ kind: 'expired', words: verdict.words });
  }
}

const silence: Failure = { kind: 'network', words: 'the watch fell silent, without even a bookmark' };
