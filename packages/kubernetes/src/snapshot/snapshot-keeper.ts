/**
 * Keeps the snapshot file close to the served state: writes it soon after changes, but not after each, now and then
 * without changes, and once at the end.
 */
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { formatElapsed } from '@portolan/kernel/base/duration.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import {
  readSnapshot,
  type SnapshotContent,
  type SnapshotOwner,
  type SnapshotState,
  writeSnapshot,
} from './snapshot-file.ts';

export interface SnapshotStats {
  readonly written: number;
  readonly errors: number;
  /** Milliseconds since the epoch. */
  readonly lastWritten: number | undefined;
  /** Milliseconds since the state in the file was current. */
  readonly age: number | undefined;
}

export interface SnapshotSettings {
  readonly file: string;
  /** Milliseconds: an older snapshot is not used. 0: any age. */
  readonly maxAge: number;
  /** The option that sets the maximum age, for messages: `--snapshot-max-age`. */
  readonly maxAgeName: string;
}

export interface SnapshotKeeperOptions extends SnapshotSettings {
  /** The owner of the state, as far as it is known now. Never rejects. */
  readonly owner: () => Promise<SnapshotOwner>;
  /** Changes with every change of the state. */
  readonly generation: () => number;
  /** The state; undefined while it is incomplete. */
  readonly state: () => SnapshotState | undefined;
  /** Whether the state is known to be current. */
  readonly isCurrent: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** Interval of writes after changes. */
export const SNAPSHOT_PERIOD = 30_000;
/** Interval of writes without changes, so that the file does not expire. */
export const SNAPSHOT_RENEWAL = 3_600_000;

/** What to do about a file that is not used. */
const REMEDY = 'the next write replaces it; if that is not to be, name another file';

export class SnapshotKeeper {
  readonly #options: SnapshotKeeperOptions;
  #timer: Timer | undefined;
  #generation: number | undefined;
  #writing: Promise<void> | undefined;
  #written = 0;
  #errors = 0;
  /** Milliseconds since the epoch. */
  #lastWritten: number | undefined;
  /** When the state in the file was current, by the monotonic clock. */
  #freshAt: number | undefined;

  constructor(options: SnapshotKeeperOptions) {
    this.#options = options;
  }

  /** The last good state, if usable. A file that cannot be used is reported and left as it is. */
  async read(): Promise<SnapshotContent | undefined> {
    const { file, owner, maxAge, maxAgeName, clock, log } = this.#options;
    const reading = await readSnapshot(file, owner());
    if (reading.kind === 'unusable') this.reject(reading.reason);
    if (reading.kind !== 'good') return undefined;
    const { content, count: objects, written, isVerified } = reading;
    // A clock that was set back must not make the snapshot unusable.
    const milliseconds = Math.max(0, clock.now() - written);
    const age = formatElapsed(milliseconds);
    if (maxAge > 0 && milliseconds > maxAge) {
      this.reject(`it is too old: ${age}; at most ${formatElapsed(maxAge)} by ${maxAgeName}`);
      return undefined;
    }
    this.#lastWritten = written;
    this.#freshAt = clock.monotonic() - milliseconds;
    log.info('snapshot read', { file, age, objects, clusterVerified: isVerified });
    return content;
  }

  /** Reports that the file cannot be used. */
  reject(reason: string): void {
    this.#errors += 1;
    const { file, log } = this.#options;
    log.warn('snapshot ignored', { file, reason, remedy: REMEDY });
  }

  /** Starts writing. */
  start(): void {
    this.#timer = this.#options.clock.after(SNAPSHOT_PERIOD, () => {
      this.#writing = this.#writeIfNeeded().then(() => {
        this.#writing = undefined;
        if (this.#timer !== undefined) this.start();
      });
    });
  }

  count(): SnapshotStats {
    return { written: this.#written, errors: this.#errors, lastWritten: this.#lastWritten, age: this.#age() };
  }

  /** Writes pending changes, then stops. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    await this.#writing;
    await this.#writeIfNeeded();
  }

  async #writeIfNeeded(): Promise<void> {
    const { file, owner, state, clock, log } = this.#options;
    const generation = this.#options.generation();
    const held = this.#isNeeded(generation) ? state() : undefined;
    if (held === undefined) return;
    try {
      const objects = await writeSnapshot(file, await owner(), held, clock.now());
      this.#generation = generation;
      this.#written += 1;
      this.#lastWritten = clock.now();
      this.#freshAt = clock.monotonic();
      log.debug('snapshot written', { file, objects });
    } catch (error) {
      this.#errors += 1;
      log.error('snapshot not written', { reason: describeError(error) });
    }
  }

  #isNeeded(generation: number): boolean {
    if (generation !== this.#generation) return true;
    const age = this.#age() ?? Number.POSITIVE_INFINITY;
    return age >= SNAPSHOT_RENEWAL && this.#options.isCurrent();
  }

  /** Milliseconds, independent of changes of the wall clock. */
  #age(): number | undefined {
    return this.#freshAt === undefined ? undefined : this.#options.clock.monotonic() - this.#freshAt;
  }
}
