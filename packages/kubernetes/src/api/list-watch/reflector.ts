/**
 * Keeps one kind of object equal to the API server: lists, watches, and tries again for as long as it runs.
 *
 * One loop makes one try after the other. The retry policy decides what the next one does, and after which wait.
 */
import { formatElapsed } from '@portolan/kernel/base/duration.ts';
import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import { OutageLog } from '@portolan/kernel/base/outage-log.ts';
import { RateLimitedWarnings } from '@portolan/kernel/base/rate-limited-warning.ts';
import type { ObjectSink, WatchedObject } from '../../objects/objects.ts';
import type { ApiAccess } from './api-access.ts';
import { ConnectionAttempt } from './attempt.ts';
import type { Failure } from './failure.ts';
import { Intake } from './intake.ts';
import { describeRule } from './rbac-rule.ts';
import { Replica } from './replica.ts';
import type { ApiVersions, Resource } from './resource.ts';
import {
  decideRetry,
  firstTry,
  type Outcome,
  type Refusal,
  type Retry,
  type RetryMemory,
} from './retry-policy.ts';
import { type CheckSubject, ServerCheck, type ServerFinding } from './server-check.ts';
import { Silence } from './silence.ts';
import { describeState, moveWatch, type WatchState, type WatchStats } from './state.ts';

/** The state of one kind. */
export interface KindStatus extends Omit<WatchStats, 'state'> {
  readonly state: WatchState;
  /** Whether it was listed completely at least once. */
  readonly synced: boolean;
  /** The state in words. */
  readonly words: string;
  /** Milliseconds since an event, a bookmark or an answered comparison came, if it is longer than it may be. */
  readonly silence: number | undefined;
}

/** The common interface of reflectors of all kinds. */
export interface Follower {
  start(): void;
  /** Ends the watch; no sink is called after that. */
  stop(): Promise<void>;
  status(): KindStatus;
}

/** Milliseconds between two warnings about malformed objects: each warning counts those since the last. */
const MALFORMED_INTERVAL = 60_000;

export class Reflector<Kind extends WatchedObject> implements Follower {
  readonly #title: string;
  readonly #api: ApiAccess;
  readonly #changed: () => void;
  readonly #versions: ApiVersions<Kind>;
  readonly #replica: Replica<Kind>;
  readonly #guard: ItemGuard;
  readonly #outage: OutageLog;
  readonly #check: ServerCheck;
  readonly #silence: Silence;
  readonly #stop = new AbortController();
  #memory: RetryMemory = firstTry;
  #running: Promise<void> | undefined;
  #state: WatchState = { kind: 'idle' };
  #attempt: ConnectionAttempt | undefined;
  /** Why this side has ended the attempt. */
  #interruption: Outcome | undefined;
  #watchingSince = 0;
  /** Pages of a list that came in this attempt. */
  #pages = 0;
  /** Whether the kind cannot be followed now. */
  #isFailing = false;
  #repairs = 0;

  /** `changed` is called after each change of state. */
  constructor(
    title: string,
    versions: ApiVersions<Kind>,
    sink: ObjectSink<Kind>,
    api: ApiAccess,
    changed: () => void,
  ) {
    this.#title = title;
    this.#api = api;
    this.#changed = changed;
    this.#versions = versions;
    const warnings = new RateLimitedWarnings(api.log, api.clock, MALFORMED_INTERVAL);
    this.#guard = new ItemGuard({
      source: 'kubernetes',
      clock: api.clock,
      log: api.log,
      report: ({ item: object, problem }) =>
        warnings.warn('malformed object left out', { kind: title, object, problem }),
    });
    this.#outage = new OutageLog(api.log, api.clock, {
      failed: 'API server cannot be followed',
      ended: 'API server followed again',
    });
    const intake = new Intake(sink, this.#guard);
    this.#replica = new Replica(intake, api, {
      listing: (objects) => this.#move({ kind: 'listing', path: this.#resource.path, objects }),
      page: () => {
        this.#pages += 1;
        this.#silence.heard();
      },
      listed: (isMixed) => this.#onListed(isMixed),
      watching: () => this.#onWatching(),
      proven: () => {
        this.#silence.heard();
        this.#decide({ kind: 'proven' });
      },
    });
    const { clock, timing } = api;
    this.#silence = new Silence(
      clock,
      timing.silent,
      () => this.#onSilent(),
      () => this.#onHeard(),
    );
    this.#check = new ServerCheck(
      api,
      this.#stop.signal,
      () => this.#subject(),
      (asked) => this.#replica.proveCurrent(asked),
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
      malformed: this.#guard.total,
      words: describeState(this.#state),
      silence: this.#silence.isSilent ? this.#silence.lasts : undefined,
    };
  }

  get #resource(): Resource<Kind> {
    return this.#versions[this.#memory.version] ?? this.#versions[0];
  }

  async #run(): Promise<void> {
    this.#check.plan();
    // A single object is not compared, and a server need not send bookmarks: its silence says nothing.
    if (this.#versions[0].only === undefined) this.#silence.begin();
    while (!this.#stop.signal.aborted) {
      const outcome = await this.#try();
      if (outcome !== undefined) await this.#follow(outcome);
    }
    this.#silence.end();
    this.#move({ kind: 'idle' });
  }

  /** @returns undefined when the watch was stopped */
  async #try(): Promise<Outcome | undefined> {
    const attempt = new ConnectionAttempt(this.#stop.signal, this.#api.clock);
    this.#attempt = attempt;
    this.#pages = 0;
    let failure: Failure | undefined;
    let isMixed = false;
    try {
      isMixed = await this.#take(attempt);
      // The attempt may be ended from this side just after the stream has ended by itself.
      if (attempt.signal.aborted) failure = attempt.explain(undefined);
    } catch (error) {
      failure = attempt.explain(error);
    } finally {
      attempt.close();
      this.#attempt = undefined;
    }
    const interruption = this.#interruption;
    this.#interruption = undefined;
    if (this.#stop.signal.aborted) return undefined;
    if (interruption !== undefined) return interruption;
    if (failure === undefined) return { kind: isMixed ? 'mixed' : 'ended' };
    if (failure.kind === 'stopped') return undefined;
    return { kind: 'failed', failure, watched: this.#watched, pages: this.#pages };
  }

  /** @returns whether all were listed, but not as of one version */
  async #take(attempt: ConnectionAttempt): Promise<boolean> {
    const resource = this.#resource;
    const { step } = this.#memory;
    switch (step.kind) {
      case 'watch':
        await this.#replica.watch(resource, attempt);
        return false;
      case 'stream':
        await this.#replica.stream(resource, attempt);
        return false;
      case 'list':
        if (await this.#replica.list(resource, step.from, attempt)) return true;
        // Go on with the watch at once.
        await this.#replica.watch(resource, attempt);
        return false;
    }
  }

  /** How long the watch has been open, in milliseconds; 0 if none is. */
  get #watched(): number {
    return this.#isWatching ? this.#api.clock.monotonic() - this.#watchingSince : 0;
  }

  get #isWatching(): boolean {
    return this.#state.kind === 'watching' || this.#state.kind === 'silent';
  }

  #decide(outcome: Outcome): Retry {
    const { timing, clock } = this.#api;
    const isSingle = this.#resource.only !== undefined;
    const settings = { timing, versions: this.#versions.length, isSingle };
    const retry = decideRetry(this.#memory, outcome, clock.monotonic(), settings);
    this.#memory = retry.memory;
    return retry;
  }

  async #follow(outcome: Outcome): Promise<void> {
    const { wait, reason, downgrade } = this.#decide(outcome);
    const milliseconds = wait.min + this.#api.random() * (wait.max - wait.min);
    if (outcome.kind === 'failed') this.#reportRelist(outcome.failure);
    if (outcome.kind === 'mixed')
      this.#api.log.info('relisting', { kind: this.#title, reason: 'the list was not as of one version' });
    if (downgrade !== undefined) this.#reportDowngrade(downgrade);
    if (reason !== undefined) {
      this.#isFailing = true;
      const retryIn = formatElapsed(milliseconds);
      const rule = reason.kind === 'permission' ? { rule: describeRule(this.#resource) } : {};
      this.#outage.failed(reason.kind, { kind: this.#title, reason: reason.words, retryIn, ...rule });
      const until = this.#api.clock.now() + milliseconds;
      this.#move({ kind: 'waiting', until, reason: { kind: reason.kind, words: reason.words } });
    }
    if (milliseconds > 0) await this.#sleep(milliseconds);
  }

  #reportRelist(failure: Failure): void {
    const fields = { kind: this.#title, reason: failure.words };
    if (failure.kind === 'expired') this.#api.log.info('relisting', fields);
    else if (failure.kind === 'no-watch-list')
      this.#api.log.debug('the server does not stream lists, listing without', fields);
    else if (failure.kind === 'unexpected') {
      const stack = failure.error instanceof Error ? failure.error.stack : undefined;
      this.#api.log.error('internal error: relisting', { ...fields, stack });
    }
  }

  #reportDowngrade(refusal: Refusal): void {
    const { path, lacks } = this.#resource;
    this.#api.log.warn('API version not available, following an older one', {
      kind: this.#title,
      path,
      reason: refusal.words,
      lacks,
    });
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

  #onListed(isMixed: boolean): void {
    const { path } = this.#resource;
    if (!isMixed) this.#decide({ kind: 'listed' });
    this.#api.log.info('listed', { kind: this.#title, objects: this.#replica.count, path });
  }

  #onWatching(): void {
    // After a failure the server may be another one, which accepts a version that it does not know. And a better API
    // version may have been refused only because the server had just started.
    const { failures, version } = this.#memory;
    if (this.#isFailing || failures > 0 || version > 0) this.#check.planSoon();
    this.#isFailing = false;
    this.#watchingSince = this.#api.clock.monotonic();
    this.#silence.heard();
    this.#outage.ended({ kind: this.#title });
    this.#move({ kind: 'watching', path: this.#resource.path });
  }

  #onSilent(): void {
    // In any other state its own words say more.
    if (this.#state.kind === 'watching') {
      const lasts = formatElapsed(this.#silence.lasts);
      this.#outage.failed('silent', { kind: this.#title, reason: `nothing was heard for ${lasts}` });
      this.#move({ kind: 'silent', path: this.#state.path });
    } else this.#changed();
  }

  #onHeard(): void {
    if (this.#state.kind !== 'silent') return;
    this.#outage.ended({ kind: this.#title });
    this.#move({ kind: 'watching', path: this.#state.path });
  }

  #move(to: WatchState): void {
    this.#state = moveWatch(this.#state, to);
    this.#changed();
  }

  #subject(): CheckSubject | undefined {
    const { path, only } = this.#resource;
    if (!this.#isWatching || this.#attempt === undefined || only !== undefined) return undefined;
    const betterPaths = this.#versions.slice(0, this.#memory.version).map((better) => better.path);
    const heard = () => this.#silence.heard();
    return { path, betterPaths, silence: this.#silence.lasts, heard, follow: () => this.#replica.follow() };
  }

  #act(finding: ServerFinding): void {
    if (this.#attempt === undefined) return;
    this.#interruption = this.#toOutcome(finding);
    this.#attempt.fail({ kind: 'stopped', words: finding.words });
  }

  #toOutcome(finding: ServerFinding): Outcome {
    const { words } = finding;
    const watched = this.#watched;
    const fields = { kind: this.#title, reason: words };
    switch (finding.kind) {
      case 'better-version': {
        this.#api.log.info('following a better API version', { kind: this.#title, path: finding.path });
        const version = this.#versions.findIndex(({ path }) => path === finding.path);
        return { kind: 'better-version', version };
      }
      case 'reachable-again':
        this.#api.log.info('opening the watch again', fields);
        // Compare soon again: the server may be another one.
        this.#isFailing = true;
        return { kind: 'ended' };
      default:
        this.#repairs += 1;
        this.#api.log.warn('the store does not match the API server', fields);
        return { kind: 'failed', failure: { kind: 'expired', why: 'doubtful', words }, watched, pages: 0 };
    }
  }
}
