/**
 * The guard between foreign data and the program: it reads each item of a source (a key, an object, a file, a line) separately.
 *
 * An unreadable item is counted, named in the log and skipped. It does not affect its source or later items.
 */
import type { Clock } from './clock.ts';
import { describeError } from './describe-error.ts';
import type { Log } from './log.ts';
import { RateLimitedWarnings } from './rate-limited-warning.ts';

/** The source of items, as metrics and logs name it. */
export type ItemSource =
  | 'config-map'
  | 'etcd'
  | 'hosts'
  | 'kubernetes'
  | 'manifests'
  | 'resolv-conf'
  | 'saved-config'
  | 'servers-file'
  | 'snapshot'
  | 'zone-file';

/** Why items are rejected. `failed`: reading it exposed a defect of the program. */
const REJECTION_REASONS = ['malformed', 'too-large', 'unreadable', 'failed'] as const;
export type RejectionReason = (typeof REJECTION_REASONS)[number];

/** An item is malformed: thrown by its reader. All other errors are defects of the program. */
export class ItemFault extends Error {
  override readonly name: string = 'ItemFault';
  readonly rejection: RejectionReason;

  constructor(rejection: RejectionReason, message: string) {
    super(message);
    this.rejection = rejection;
  }
}

export interface RejectedItem {
  /** A path, a key, a file and line: the text that a person searches for. */
  readonly item: string;
  readonly reason: RejectionReason;
  readonly problem: string;
  /** The reader's exception; undefined if the item was rejected without one. */
  readonly error: unknown;
}

/** The result of reading an item. */
export type ItemReading<Result> =
  | { readonly kind: 'read'; readonly result: Result }
  | ({ readonly kind: 'rejected' } & Omit<RejectedItem, 'item'>);

/**
 * Reads one item and catches all exceptions: for readers of texts, which list their problems. Readers of a source use
 * an `ItemGuard`, which also counts.
 */
export function readItem<Result>(read: () => Result): ItemReading<Result> {
  try {
    return { kind: 'read', result: read() };
  } catch (error) {
    const reason = error instanceof ItemFault ? error.rejection : 'failed';
    return { kind: 'rejected', reason, problem: describeError(error), error };
  }
}

export interface ItemGuardOptions {
  readonly source: ItemSource;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: Log;
  /** Reports in the terms of the source; replaces the warning. */
  readonly report?: (rejected: RejectedItem) => void;
}

/** How many items of a source were rejected for one reason. */
export interface RejectedCount {
  readonly source: ItemSource;
  readonly reason: RejectionReason;
  readonly count: number;
}

/** How many item names to remember, so that each is logged once. */
const MAX_NAMED = 1_000;

/**
 * By source and reason. One count per process: sources come and go with plans and reloads, and many begin before the server starts.
 */
const counts = new Map<ItemSource, Map<RejectionReason, number>>();

/** All reasons of each source that the process has read from. */
export function countRejectedItems(): readonly RejectedCount[] {
  return [...counts].flatMap(([source, reasons]) =>
    REJECTION_REASONS.map((reason) => ({ source, reason, count: reasons.get(reason) ?? 0 })),
  );
}

export class ItemGuard {
  readonly #source: ItemSource;
  readonly #counts: Map<RejectionReason, number>;
  readonly #log: Log;
  readonly #warnings: RateLimitedWarnings;
  readonly #report: (rejected: RejectedItem) => void;
  /** The problem of each item that was logged. */
  readonly #named = new Map<string, string>();
  #total = 0;

  constructor({ source, clock, log, report }: ItemGuardOptions) {
    this.#source = source;
    this.#counts = counts.get(source) ?? new Map();
    counts.set(source, this.#counts);
    this.#log = log;
    this.#warnings = new RateLimitedWarnings(log, clock);
    this.#report = report ?? ((rejected) => this.#warn(rejected));
  }

  /** The number of items rejected so far. */
  get total(): number {
    return this.#total;
  }

  /**
   * Reads one item and catches all exceptions.
   *
   * @param formatName the item's name for a person; called only when needed
   * @returns undefined for a rejected item
   */
  take<Result>(formatName: () => string, read: () => Result): Result | undefined {
    const before = this.#total;
    const reading = readItem(read);
    if (reading.kind === 'rejected') {
      this.#note({ ...reading, item: tryName(formatName) });
      return undefined;
    }
    // An item that recovered is logged again when it fails again. Nested items may have been rejected meanwhile.
    if (this.#named.size > 0 && this.#total === before) this.#named.delete(tryName(formatName));
    return reading.result;
  }

  /** Counts and logs an item that its reader skips by itself. */
  reject(item: string, reason: RejectionReason, problem: string): void {
    this.#note({ item, reason, problem, error: undefined });
  }

  /** Counts items that are logged elsewhere. */
  count(reason: RejectionReason, items = 1): void {
    this.#total += items;
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + items);
  }

  #note(rejected: RejectedItem): void {
    this.count(rejected.reason);
    const reported = readItem(() => this.#report(rejected));
    if (reported.kind === 'rejected')
      this.#log.error('rejected item not reported', { source: this.#source, reason: reported.problem });
  }

  #warn({ item, reason, problem, error }: RejectedItem): void {
    if (this.#named.get(item) === problem) return;
    const stack = reason === 'failed' && error instanceof Error ? error.stack : undefined;
    const fields = { source: this.#source, item, reason, problem, stack };
    if (this.#warnings.warn('item rejected', fields)) this.#remember(item, problem);
  }

  #remember(item: string, problem: string): void {
    const [oldest] = this.#named.keys();
    if (this.#named.size >= MAX_NAMED && oldest !== undefined) this.#named.delete(oldest);
    this.#named.set(item, problem);
  }
}

function tryName(formatName: () => string): string {
  const named = readItem(formatName);
  return named.kind === 'read' ? named.result : '?';
}
