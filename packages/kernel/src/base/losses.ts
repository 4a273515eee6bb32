/**
 * Keeps a source that goes wrong from emptying the answers. The owner of the names asks before names are removed: a few go at once; those of
 * a sudden loss stay, marked as stale, until the source has them again, somebody accepts the loss, or their time is over.
 *
 * Guards hold counts and times; the names stay where they are. All guards of a process have one rule.
 */
import type { Clock, Timer } from './clock.ts';
import type { Log } from './log.ts';

/** When a source has lost so many names at once that it is more likely broken than right. `share` and `names` must both be reached. */
export interface LossRule {
  /** Percent of the names that the source had, 1 to 100. */
  readonly share: number;
  /** At least 1. */
  readonly names: number;
  /** Milliseconds within which the names are lost. */
  readonly within: number;
  /** Milliseconds for which they are kept. */
  readonly hold: number;
}

export const DEFAULT_LOSS_RULE: LossRule = { share: 50, names: 20, within: 30_000, hold: 600_000 };

/** Stands for names that were lost at about the same time; 0: none, they are to be removed at once. */
export type LossMark = number;

/** What the names are from. */
export interface LossSource {
  /** One of few words: `services`, `zone file`. */
  readonly kind: string;
  /** Which of them: a domain, a path. */
  readonly subject: string;
}

/** Where the names are. */
export interface StaleNames {
  /** Those that the source has lost and that are still there. */
  count(): number;
  /** Removes those with a mark. */
  remove(mark: LossMark): void;
}

/** A sudden loss that is not over. Times are milliseconds. */
export interface LossStatus extends LossSource {
  /** Names that are still there. */
  readonly names: number;
  /** Names that the source had before. */
  readonly of: number;
  readonly age: number;
  /** Until the last of them are removed. */
  readonly left: number;
}

export interface LossGuardDependencies {
  readonly clock: Clock;
  readonly log: Log;
  /** Undefined: all names go at once. */
  readonly rule: () => LossRule | undefined;
  /** Called with the names of each loss. */
  readonly count: (names: number) => void;
  readonly end: () => void;
}

interface Batch {
  readonly mark: LossMark;
  readonly begun: number;
  readonly until: number;
  readonly timer: Timer;
}

/** Spans are measured in sixteenths, so that the guard needs little memory however many names are lost. */
const PARTS = 16;
/** What the operator types. */
const ACCEPT = 'portolan control accept';

export class LossGuard {
  readonly #source: LossSource;
  readonly #stale: StaleNames;
  readonly #dependencies: LossGuardDependencies;
  /** Names that went at once of late. */
  readonly #gone: { readonly at: number; names: number }[] = [];
  #batches: Batch[] = [];
  #marks = 0;
  #begun = 0;
  /** Names before the loss. */
  #before = 0;

  constructor(source: LossSource, stale: StaleNames, dependencies: LossGuardDependencies) {
    this.#source = source;
    this.#stale = stale;
    this.#dependencies = dependencies;
  }

  /**
   * Decides what becomes of names that the source has lost.
   *
   * @param lost how many
   * @param present the names that it had until now, without those that are stale; called only for many
   * @returns the mark to keep them under; 0: remove them
   */
  judge(lost: number, present: () => number): LossMark {
    const rule = this.#dependencies.rule();
    if (rule === undefined || lost === 0) return 0;
    const now = this.#dependencies.clock.monotonic();
    const gone = this.#countGone(now - rule.within);
    if (gone + lost >= rule.names) {
      const before = gone + present();
      if ((gone + lost) * 100 >= rule.share * before) return this.#keep(lost, before, rule, now);
    }
    this.#note(lost, now, rule.within);
    return 0;
  }

  /** The same for names that belong to others which are stale: they are kept, however few. */
  keep(lost: number, present: () => number): LossMark {
    const rule = this.#dependencies.rule();
    if (rule === undefined || lost === 0) return 0;
    return this.#keep(lost, present(), rule, this.#dependencies.clock.monotonic());
  }

  /** Call it when names are no longer stale: the source may have all of them again. */
  settle(): void {
    if (this.#batches.length === 0 || this.#stale.count() > 0) return;
    this.#forget();
    this.#dependencies.log.info('the lost names are back', { ...this.#source });
  }

  /** Removes what is stale now. @returns how many names */
  accept(): number {
    const batches = this.#batches;
    return batches.length === 0 ? 0 : this.#remove(batches, 'accepted');
  }

  /** Undefined: there is no sudden loss. */
  status(): LossStatus | undefined {
    const last = this.#batches.at(-1);
    const names = last === undefined ? 0 : this.#stale.count();
    if (last === undefined || names === 0) return undefined;
    const now = this.#dependencies.clock.monotonic();
    return { ...this.#source, names, of: this.#before, age: now - this.#begun, left: last.until - now };
  }

  /** Its names are removed, or somebody else's. */
  stop(): void {
    this.#forget();
    this.#dependencies.end();
  }

  #countGone(since: number): number {
    const gone = this.#gone;
    while (gone[0] !== undefined && gone[0].at <= since) gone.shift();
    return gone.reduce((sum, { names }) => sum + names, 0);
  }

  #note(names: number, now: number, within: number): void {
    const last = this.#gone.at(-1);
    if (last !== undefined && now - last.at < within / PARTS) last.names += names;
    else this.#gone.push({ at: now, names });
  }

  #keep(lost: number, before: number, { hold }: LossRule, now: number): LossMark {
    this.#dependencies.count(lost);
    const last = this.#batches.at(-1);
    if (last !== undefined && now - last.begun < hold / PARTS) return last.mark;
    this.#marks += 1;
    const mark = this.#marks;
    if (last === undefined || this.#stale.count() === 0) {
      this.#begun = now;
      this.#before = before;
    }
    const timer = this.#dependencies.clock.after(hold, () => {
      this.#remove(
        this.#batches.filter((batch) => batch.mark === mark),
        'not back in time',
      );
    });
    this.#batches.push({ mark, begun: now, until: now + hold, timer });
    this.#dependencies.log.warn('source lost many names at once, answering them as stale', {
      ...this.#source,
      names: lost,
      of: before,
      accept: ACCEPT,
    });
    return mark;
  }

  #remove(batches: readonly Batch[], reason: string): number {
    const before = this.#stale.count();
    this.#batches = this.#batches.filter((batch) => !batches.includes(batch));
    for (const { mark, timer } of batches) {
      timer.cancel();
      this.#stale.remove(mark);
    }
    const names = before - this.#stale.count();
    if (names > 0) this.#dependencies.log.warn('lost names removed', { ...this.#source, names, reason });
    return names;
  }

  #forget(): void {
    for (const { timer } of this.#batches) timer.cancel();
    this.#batches = [];
  }
}

export interface LossesDependencies {
  readonly clock: Clock;
  readonly log: Log;
}

/** Of all sources of a kind. */
export interface LossCount extends Pick<LossSource, 'kind'> {
  /** Names that are stale now. */
  readonly stale: number;
  /** Names that were lost in sudden losses since the start. */
  readonly lost: number;
}

export class Losses {
  readonly #dependencies: LossesDependencies;
  readonly #guards = new Set<LossGuard>();
  /** Names that each kind of source has lost. */
  readonly #lost = new Map<LossSource['kind'], number>();
  #rule: LossRule | undefined;

  /** @param rule undefined: names go as soon as their source lacks them */
  constructor(rule: LossRule | undefined, dependencies: LossesDependencies) {
    this.#rule = rule;
    this.#dependencies = dependencies;
  }

  /** A guard for the names of one source. Stop it with its source. */
  guard(source: LossSource, stale: StaleNames): LossGuard {
    const { clock, log } = this.#dependencies;
    const { kind } = source;
    const guard: LossGuard = new LossGuard(source, stale, {
      clock,
      log,
      rule: () => this.#rule,
      count: (names) => void this.#lost.set(kind, (this.#lost.get(kind) ?? 0) + names),
      end: () => void this.#guards.delete(guard),
    });
    this.#guards.add(guard);
    this.#lost.set(kind, this.#lost.get(kind) ?? 0);
    return guard;
  }

  /** Judges by another rule from now on. Without one, nothing is kept any longer. */
  follow(rule: LossRule | undefined): void {
    this.#rule = rule;
    if (rule === undefined) this.accept();
  }

  /** The losses that are not over. */
  list(): readonly LossStatus[] {
    return [...this.#guards].flatMap((guard) => guard.status() ?? []);
  }

  /** By kind of source; empty without a rule. */
  count(): readonly LossCount[] {
    if (this.#rule === undefined) return [];
    const losses = this.list();
    return Array.from(this.#lost, ([kind, lost]) => {
      const names = losses.filter((loss) => loss.kind === kind).map((loss) => loss.names);
      return { kind, lost, stale: names.reduce((sum, each) => sum + each, 0) };
    });
  }

  /** Removes all names that are stale now. @returns what was lost */
  accept(): readonly LossStatus[] {
    const losses = this.list();
    for (const guard of this.#guards) guard.accept();
    return losses;
  }
}
