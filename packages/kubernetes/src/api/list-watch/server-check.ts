/**
 * Compares the store with the API server now and then, by a list with limit 1 that also returns the total count.
 *
 * It detects failures that a watch cannot report: lost events, and a server whose history went back, for instance after a
 * restore from a backup; such a server accepts a watch from its future and stays silent. A comparison that finds no
 * difference proves that the objects held are current. While a worse API version is in use it also probes the better ones.
 */
import type { Timer } from '@portolan/kernel/base/clock.ts';
import type { ApiAccess } from './api-access.ts';
import { ConnectionAttempt } from './attempt.ts';
import type { Failure } from './failure.ts';
import { countObjects, type Page } from './list-pages.ts';
import { isOlder } from './resource-version.ts';

/** How many objects were held when the watch had reached a version. */
export interface CountAt {
  readonly resourceVersion: string;
  readonly count: number;
}

/** The progress of a watch from a moment on: one entry for its state at that moment and for each event or bookmark since. */
export interface Progress {
  readonly entries: readonly CountAt[];
  /** Called after each entry that is added, until `end`. */
  onEntry: () => void;
  end(): void;
}

/** The watch that is compared. */
export interface CheckSubject {
  readonly path: string;
  /** Better API versions of the same kind, best first, by their paths. */
  readonly betterPaths: readonly string[];
  /** Milliseconds since an event, a bookmark or the answer to a comparison came. */
  readonly silence: number;
  /** A comparison was answered, whatever it says. */
  heard(): void;
  follow(): Progress;
}

/** A reason to act. */
export type ServerFinding =
  | { readonly kind: 'differs'; readonly words: string }
  | { readonly kind: 'went-back'; readonly words: string }
  | { readonly kind: 'better-version'; readonly words: string; readonly path: string }
  /** The server was unreachable and is reachable again: the watch may have a dead connection. */
  | { readonly kind: 'reachable-again'; readonly words: string };

export type ServerVerdict =
  | { readonly kind: 'same' }
  | { readonly kind: 'went-back'; readonly words: string }
  /** `sign`: 1 where the server has more objects than are held, -1 where it has fewer. */
  | { readonly kind: 'differs'; readonly sign: number; readonly words: string }
  /** The watch has not reached the version of the answer, and the counts differ as of its current state. */
  | { readonly kind: 'behind'; readonly sign: number; readonly words: string }
  /** The server did not say how many there are. */
  | { readonly kind: 'unknown' };

/** Compares the answer with what was held when the watch had reached the version of the answer, neither before nor after. */
export function judge(page: Page, entries: readonly CountAt[]): ServerVerdict {
  const [first] = entries;
  const last = entries.at(-1);
  if (first === undefined || last === undefined) return { kind: 'unknown' };
  if (isOlder(page.resourceVersion, first.resourceVersion)) {
    const words = `the server is at version ${page.resourceVersion}, behind ${first.resourceVersion}`;
    return { kind: 'went-back', words };
  }
  if (page.next !== undefined && page.remaining === undefined) return { kind: 'unknown' };
  const total = page.count + (page.remaining ?? 0);
  const reached = entries.findLast(({ resourceVersion }) => !isOlder(page.resourceVersion, resourceVersion));
  const held = reached?.count ?? first.count;
  if (total === held) return { kind: 'same' };
  const words = `the server has ${total} objects, held are ${held}`;
  const isPassed = !isOlder(last.resourceVersion, page.resourceVersion);
  return { kind: isPassed ? 'differs' : 'behind', sign: Math.sign(total - held), words };
}

/** After so many repairs in a row that did not help, repairs are this many times rarer. */
const MAX_FACTOR = 16;

/** Interval of comparisons while the server is unreachable, which costs it nothing. */
const UNREACHABLE_FACTOR = 1.5;

export class ServerCheck {
  readonly #api: ApiAccess;
  readonly #stop: AbortSignal;
  readonly #subject: () => CheckSubject | undefined;
  readonly #onSame: (asked: number) => void;
  readonly #act: (finding: ServerFinding) => void;
  #timer: Timer | undefined;
  #sign = 0;
  #repairs = 0;
  /** Until then a difference is not repaired: repairs before did not help. */
  #repairAfter = 0;
  #wasUnreachable = false;
  /** When the next comparison is due, however busy the watch is. */
  #due = 0;
  #quiet = 0;

  /**
   * @param subject what is watched now; undefined while there is nothing to compare
   * @param onSame called if the counts agree, with the time of the request in milliseconds of the monotonic clock
   * @param act called with each finding that needs an action
   */
  constructor(
    api: ApiAccess,
    stop: AbortSignal,
    subject: () => CheckSubject | undefined,
    onSame: (asked: number) => void,
    act: (finding: ServerFinding) => void,
  ) {
    this.#api = api;
    this.#stop = stop;
    this.#subject = subject;
    this.#onSame = onSame;
    this.#act = act;
    stop.addEventListener('abort', () => this.#timer?.cancel(), { once: true });
  }

  /** Plans the next comparison: soon after the watch fell silent, later while it is busy. */
  plan(): void {
    const { checkEvery, quiet } = this.#api.timing;
    this.#due = this.#api.clock.monotonic() + this.#jitter(checkEvery);
    this.#quiet = this.#jitter(quiet);
    this.#wait();
  }

  /** Plans a comparison soon. */
  planSoon(): void {
    this.#quiet = 0;
    this.#after(this.#jitter(this.#api.timing.checkSoon));
  }

  /** One timer that checks again when it fires, instead of one for each event. */
  #wait(): void {
    const now = this.#api.clock.monotonic();
    const untilQuiet = this.#quiet - (this.#subject()?.silence ?? 0);
    // Whole milliseconds, at least one: a timer cannot wait a fraction.
    this.#after(Math.max(1, Math.ceil(Math.min(untilQuiet, this.#due - now))));
  }

  #after(milliseconds: number): void {
    this.#timer?.cancel();
    if (this.#stop.aborted) return;
    this.#timer = this.#api.clock.after(milliseconds, () => {
      const silence = this.#subject()?.silence;
      const isQuiet = silence === undefined || silence >= this.#quiet;
      const isDue = this.#api.clock.monotonic() >= this.#due || isQuiet;
      if (isDue) void this.#compare();
      else this.#wait();
    });
  }

  #jitter(milliseconds: number): number {
    return milliseconds * (0.8 + this.#api.random() * 0.4);
  }

  async #compare(): Promise<void> {
    const subject = this.#subject();
    const attempt = new ConnectionAttempt(this.#stop, this.#api.clock);
    try {
      if (subject === undefined) this.plan();
      else await this.#compareWith(subject, attempt);
    } catch (error) {
      this.#onFailure(subject?.path ?? '', attempt, error);
    } finally {
      attempt.close();
    }
  }

  #onFailure(path: string, attempt: ConnectionAttempt, error: unknown): void {
    const failure = attempt.explain(error);
    this.#api.log.debug('cannot compare with the API server', { path, reason: failure.words });
    if (failure.kind === 'unreachable' || failure.kind === 'network') {
      this.#wasUnreachable = true;
      this.#quiet = 0;
      this.#after(this.#jitter(this.#api.timing.reconnect * UNREACHABLE_FACTOR));
      // Ignore any other failure: the watch itself handles it.
    } else if (failure.kind !== 'stopped') this.planSoon();
  }

  async #compareWith(subject: CheckSubject, attempt: ConnectionAttempt): Promise<void> {
    for (const path of subject.betterPaths) {
      if (!(await this.#isServed(path, attempt))) continue;
      this.plan();
      this.#act({ kind: 'better-version', words: `a better API version is served: ${path}`, path });
      return;
    }
    const progress = subject.follow();
    try {
      const asked = this.#api.clock.monotonic();
      const page = await this.#count(subject.path, attempt);
      // The answer is read: close the attempt, so that waiting does not count as silence.
      attempt.close();
      subject.heard();
      if (!this.#wasUnreachable) await this.#untilJudged(page, progress);
      // Meanwhile the watch may have ended or restarted.
      if (this.#subject()?.path !== subject.path) this.plan();
      else this.#conclude(judge(page, progress.entries), asked);
    } finally {
      progress.end();
    }
  }

  #count(path: string, attempt: ConnectionAttempt): Promise<Page> {
    attempt.expectEnd(this.#api.timing.checkAnswer, unanswered);
    return countObjects(this.#api, path, attempt);
  }

  async #isServed(path: string, attempt: ConnectionAttempt): Promise<boolean> {
    try {
      await this.#count(path, attempt);
      return true;
    } catch (error) {
      const { kind } = attempt.explain(error);
      if (kind === 'permission' || kind === 'missing-kind') return false;
      throw error;
    }
  }

  /** Waits while the watch is behind the answer, for a limited time: a watch that lost its events never catches up. */
  #untilJudged(page: Page, progress: Progress): Promise<void> {
    return new Promise((resolve) => {
      const isBehind = () => judge(page, progress.entries).kind === 'behind';
      if (!isBehind() || this.#stop.aborted) return resolve();
      const end = () => {
        timer.cancel();
        this.#stop.removeEventListener('abort', end);
        resolve();
      };
      const timer = this.#api.clock.after(this.#api.timing.checkLag, end);
      this.#stop.addEventListener('abort', end, { once: true });
      progress.onEntry = () => {
        if (!isBehind()) end();
      };
    });
  }

  #conclude(verdict: ServerVerdict, asked: number): void {
    const sign = 'sign' in verdict ? verdict.sign : 0;
    const isSeenTwice = sign !== 0 && sign === this.#sign;
    this.#sign = isSeenTwice ? 0 : sign;
    if (verdict.kind === 'same') {
      this.#repairs = 0;
      this.#onSame(asked);
    }
    const now = this.#api.clock.monotonic();
    const mayRepair = now >= this.#repairAfter;
    // After silence the watch is opened again first: it may bring what is missing.
    if (sign !== 0 && !isSeenTwice && mayRepair && !this.#wasUnreachable) {
      this.planSoon();
      return;
    }
    const isRepaired = isSeenTwice && mayRepair;
    if (isRepaired) {
      this.#repairs += 1;
      const factor = Math.min(MAX_FACTOR, 2 ** this.#repairs);
      this.#repairAfter = now + this.#jitter(this.#api.timing.quiet) * factor;
    }
    this.plan();
    if (verdict.kind === 'went-back') this.#act(verdict);
    else if (isRepaired && 'words' in verdict) this.#act({ kind: 'differs', words: verdict.words });
    else if (this.#wasUnreachable) {
      this.#act({ kind: 'reachable-again', words: 'the server is reachable again, the watch may not be' });
    }
    this.#wasUnreachable = false;
  }
}

const unanswered: Failure = { kind: 'network', words: 'a comparison was not answered in time' };
