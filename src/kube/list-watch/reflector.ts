/**
 * One kind of object, kept the same as on the API server: list, watch, and begin again for as long as it takes.
 *
 * One loop makes one try after the other. A try either goes on from where we stand or lists anew; what it failed by
 * decides what is tried next and when.
 */
import type { ObjectSink, WatchedObject } from '../objects.ts';
import type { ApiAccess } from './api-access.ts';
import { Attempt } from './attempt.ts';
import { BackOff } from './back-off.ts';
import type { Failure } from './failure.ts';
import { Intake } from './intake.ts';
import { Replica } from './replica.ts';
import type { Ways } from './resource.ts';
import { type CheckSubject, type Finding, ServerCheck } from './server-check.ts';
import { describeState, moveWatch, type WaitingReason, type WatchState } from './state.ts';
import { WarningLimit } from './warning-limit.ts';
import { WayChoice } from './way-choice.ts';

/** How one kind stands. */
export interface KindStatus {
  /** `services`, `endpoints`, `namespaces`, `pods`, `nodes` or `configmaps`. */
  readonly title: string;
  readonly state: WatchState;
  /** Listed whole at least once. */
  readonly synced: boolean;
  /** Milliseconds since the last proof that what we hold is current; undefined before the first. */
  readonly age: number | undefined;
  /** On the server, as far as we know: those without use for DNS included. */
  readonly objects: number;
  /** How often it was listed whole. */
  readonly lists: number;
  /** How often the check found that we differed from the server. */
  readonly repairs: number;
  /** Objects that could not be understood. */
  readonly malformed: number;
  /** The state in words. */
  readonly words: string;
}

/** What all reflectors have in common, whatever their kind. */
export interface Follower {
  start(): void;
  /** Ends the watch; no sink is called after that. */
  stop(): Promise<void>;
  status(): KindStatus;
}

export class Reflector<Kind extends WatchedObject> implements Follower {
  readonly #title: string;
  readonly #api: ApiAccess;
  readonly #changed: () => void;
  readonly #replica: Replica<Kind>;
  readonly #way: WayChoice<Kind>;
  readonly #warnings: WarningLimit;
  readonly #backOff: BackOff;
  readonly #check: ServerCheck;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #state: WatchState = { kind: 'idle' };
  #attempt: Attempt | undefined;
  #watchingSince = Number.POSITIVE_INFINITY;
  #watchList = true;
  #repairs = 0;

  /** `changed` is called after each change of state. */
  constructor(title: string, ways: Ways<Kind>, sink: ObjectSink<Kind>, api: ApiAccess, changed: () => void) {
    this.#title = title;
    this.#api = api;
    this.#changed = changed;
    this.#way = new WayChoice(ways);
    this.#warnings = new WarningLimit(api.log, api.clock);
    this.#backOff = new BackOff(api.timing, api.random);
    const intake = new Intake(sink, (object, problem) =>
      this.#warnings.warn('an object is left out: it cannot be understood', { kind: title, object, problem }),
    );
    this.#replica = new Replica(intake, api, {
      listing: (objects) => this.#move({ kind: 'listing', path: this.#way.current.path, objects }),
      listed: () => this.#onListed(),
      watching: () => this.#onWatching(),
      proven: () => this.#backOff.reset(),
    });
    this.#check = new ServerCheck(
      api,
      this.#stop.signal,
      () => this.#subject(),
      (finding) => this.#act(finding),
    );
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  status(): KindStatus {
    return {
      title: this.#title,
      state: this.#state,
      synced: this.#replica.lists > 0,
      age: this.#replica.age,
      objects: this.#replica.count,
      lists: this.#replica.lists,
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
    const { current } = this.#way;
    const { position } = this.#replica;
    try {
      if (position !== undefined) await this.#replica.watch(current, position, attempt);
      else if (this.#watchList) await this.#replica.listByWatch(current, attempt);
      else await this.#replica.list(current, attempt);
      // An order to end may come when the stream has just ended by itself.
      return attempt.signal.aborted ? attempt.explain(undefined) : undefined;
    } catch (error) {
      return attempt.explain(error);
    } finally {
      attempt.close();
    }
  }

  async #recover(failure: Failure): Promise<void> {
    // A watch that stood for long was a success, even if it said nothing.
    const stood = this.#api.clock.monotonic() - this.#watchingSince;
    if (this.#state.kind === 'watching' && stood > this.#api.timing.watchLongEnough) this.#backOff.reset();
    switch (failure.kind) {
      case 'stopped':
        return;
      case 'no-watch-list':
        this.#watchList = false;
        this.#api.log.debug('the server has no watch-list', { kind: this.#title, reason: failure.words });
        return;
      case 'unexpected':
      case 'expired':
        this.#replica.distrust();
        this.#sayWhy(failure);
        // The first time at once; a server that keeps saying so is left in peace for a while.
        if (this.#backOff.failures > 0) await this.#wait({ kind: 'server', words: failure.words });
        else this.#backOff.next();
        return;
      case 'missing-kind':
      case 'permission': {
        this.#replica.distrust();
        const refusal = this.#way.refuse(failure);
        if (refusal !== undefined) await this.#wait(refusal);
        return;
      }
      default:
        await this.#wait(failure, failure.retryAfter);
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

  async #wait({ kind, words }: WaitingReason, retryAfter?: number): Promise<void> {
    const milliseconds = this.#backOff.next(retryAfter);
    const fields = { kind: this.#title, reason: kind, words, retryIn: Math.round(milliseconds) };
    this.#api.log.warn('the API server cannot be followed', fields);
    const until = this.#api.clock.now() + milliseconds;
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

  #onListed(): void {
    this.#way.settle();
    const { path } = this.#way.current;
    this.#api.log.info('listed', { kind: this.#title, objects: this.#replica.count, path });
  }

  #onWatching(): void {
    // Back after a failure, the server may be another one that accepts our version without knowing it.
    if (this.#backOff.failures > 0) this.#check.planSoon();
    this.#watchingSince = this.#api.clock.monotonic();
    this.#move({ kind: 'watching', path: this.#way.current.path });
  }

  #move(to: WatchState): void {
    this.#state = moveWatch(this.#state, to);
    this.#changed();
  }

  #subject(): CheckSubject | undefined {
    const { position, count } = this.#replica;
    if (this.#state.kind !== 'watching' || position === undefined) return undefined;
    const { current, betterPaths } = this.#way;
    if (current.only !== undefined) return undefined;
    return { path: current.path, resourceVersion: position, count, betterPaths };
  }

  #act(finding: Finding): void {
    if (finding.kind === 'better-way') this.#way.choose(finding.path);
    else {
      this.#repairs += 1;
      const fields = { kind: this.#title, reason: finding.words };
      this.#api.log.warn('the store does not match the API server', fields);
    }
    this.#attempt?.fail({ kind: 'expired', words: finding.words });
  }
}
