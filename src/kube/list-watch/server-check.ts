/**
 * Looks now and then, at the price of a list of one object, whether the store still matches the server.
 *
 * It finds what a watch cannot tell: events lost on the way, and a server whose history went back, for instance
 * because it was restored from a backup; such a server accepts our watch and says nothing. On a lesser way to a kind
 * it also asks whether a better one has opened.
 */
import type { Timer } from '../../ground/clock.ts';
import type { ApiAccess } from './api-access.ts';
import { Attempt } from './attempt.ts';
import { type Page, readPage } from './list-pages.ts';
import { isOlder } from './resource-version.ts';

/** What there is to compare. */
export interface CheckSubject {
  readonly path: string;
  readonly resourceVersion: string;
  readonly count: number;
  /** Better ways to the same kind, best first. */
  readonly betterPaths: readonly string[];
}

/** A reason to list anew. */
export type Finding =
  | { readonly kind: 'differs'; readonly words: string }
  | { readonly kind: 'went-back'; readonly words: string }
  | { readonly kind: 'better-way'; readonly words: string; readonly path: string };

export type Verdict =
  | Finding
  | { readonly kind: 'same' }
  /** The server did not say enough, or could not be asked. */
  | { readonly kind: 'unknown' };

/** `before` is the subject when the server was asked, `after` when its answer was there. */
export function judge(page: Page, before: CheckSubject, after: CheckSubject): Verdict {
  if (isOlder(page.resourceVersion, before.resourceVersion)) {
    const words = `the server is at version ${page.resourceVersion}, behind ${before.resourceVersion}`;
    return { kind: 'went-back', words };
  }
  if (page.next !== undefined && page.remaining === undefined) return { kind: 'unknown' };
  const total = page.count + (page.remaining ?? 0);
  const least = Math.min(before.count, after.count);
  const most = Math.max(before.count, after.count);
  if (total >= least && total <= most) return { kind: 'same' };
  return { kind: 'differs', words: `the server has ${total} objects, we have ${after.count}` };
}

/** After so many repairs in a row that did not help, checks are this many times rarer at most. */
const RAREST = 16;

export class ServerCheck {
  readonly #api: ApiAccess;
  readonly #stop: AbortSignal;
  readonly #subject: () => CheckSubject | undefined;
  readonly #act: (finding: Finding) => void;
  #timer: Timer | undefined;
  #differed = false;
  #repairs = 0;

  /**
   * @param subject what is watched now; undefined while there is nothing to compare
   * @param act called when the list must be made anew
   */
  constructor(
    api: ApiAccess,
    stop: AbortSignal,
    subject: () => CheckSubject | undefined,
    act: (finding: Finding) => void,
  ) {
    this.#api = api;
    this.#stop = stop;
    this.#subject = subject;
    this.#act = act;
    stop.addEventListener('abort', () => this.#timer?.cancel(), { once: true });
  }

  /** Sets the next look at its usual time. */
  plan(): void {
    const rarer = Math.min(RAREST, 2 ** this.#repairs);
    this.#after(this.#api.timing.checkEvery * rarer);
  }

  /** Sets the next look soon: something went wrong. */
  planSoon(): void {
    this.#after(this.#api.timing.checkSoon);
  }

  #after(milliseconds: number): void {
    this.#timer?.cancel();
    if (this.#stop.aborted) return;
    const jittered = milliseconds * (0.75 + this.#api.random() / 2);
    this.#timer = this.#api.clock.after(jittered, () => void this.#look());
  }

  async #look(): Promise<void> {
    const before = this.#subject();
    const verdict = before === undefined ? unknown : await this.#ask(before);
    // While the answer was on its way the watch may have ended or begun anew by itself.
    const stands = before !== undefined && this.#subject()?.path === before.path;
    this.#conclude(stands ? verdict : unknown);
  }

  #conclude(verdict: Verdict): void {
    const seenTwice = verdict.kind === 'differs' && this.#differed;
    this.#differed = verdict.kind === 'differs' && !seenTwice;
    if (verdict.kind === 'same') this.#repairs = 0;
    if (this.#differed) this.planSoon();
    else if (verdict.kind === 'same' || verdict.kind === 'unknown') this.plan();
    else {
      if (verdict.kind === 'differs') this.#repairs += 1;
      this.plan();
      this.#act(verdict);
    }
  }

  async #ask(before: CheckSubject): Promise<Verdict> {
    for (const path of before.betterPaths) {
      const words = `a better way has opened: ${path}`;
      if ((await this.#page(path)) !== undefined) return { kind: 'better-way', words, path };
    }
    const page = await this.#page(before.path);
    const after = this.#subject();
    return page === undefined || after === undefined ? unknown : judge(page, before, after);
  }

  async #page(path: string): Promise<Page | undefined> {
    const attempt = new Attempt(this.#stop, this.#api.clock);
    try {
      return await readPage(this.#api, path, 1, undefined, attempt, () => {});
    } catch (error) {
      // A failure here is no news: the watch itself finds out what it means.
      this.#api.log.debug('cannot compare with the API server', {
        path,
        reason: attempt.explain(error).words,
      });
      return undefined;
    } finally {
      attempt.close();
    }
  }
}

const unknown: Verdict = { kind: 'unknown' };
