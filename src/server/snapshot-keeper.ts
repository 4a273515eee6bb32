/**
 * Keeps the snapshot file near to what is served: soon after changes, not at each of them, and once more at the end.
 */
import type { Clock, Timer } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import { readSnapshot, type SnapshotOwner, writeSnapshot } from './snapshot-file.ts';

export interface SnapshotKeeperOptions {
  readonly file: string;
  readonly owner: SnapshotOwner;
  /** The state as lines, or undefined while it is not whole. */
  readonly state: () => readonly string[] | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface SnapshotCounts {
  readonly written: number;
  readonly errors: number;
  /** Milliseconds since the epoch. */
  readonly lastWritten: number | undefined;
}

/** A change is in the file at most so long after it was made. */
const PAUSE_MILLISECONDS = 10_000;

export class SnapshotKeeper {
  readonly #options: SnapshotKeeperOptions;
  #timer: Timer | undefined;
  #changed = false;
  #writing: Promise<void> | undefined;
  #stopped = false;
  #written = 0;
  #errors = 0;
  #lastWritten: number | undefined;

  constructor(options: SnapshotKeeperOptions) {
    this.#options = options;
  }

  /** The lines of the last good state, if there is one that can be used. What cannot be is reported and left alone. */
  async read(): Promise<readonly string[]> {
    const { file, owner, log } = this.#options;
    const reading = await readSnapshot(file, owner);
    if (reading.kind === 'unusable') {
      this.#errors += 1;
      log.error('snapshot ignored', { file, reason: reading.reason });
    }
    if (reading.kind !== 'good') return [];
    log.info('snapshot read', { file, written: reading.written, objects: reading.lines.length });
    return reading.lines;
  }

  /** To be called whenever the state has changed. */
  noteChange(): void {
    this.#changed = true;
    this.#schedule();
  }

  count(): SnapshotCounts {
    return { written: this.#written, errors: this.#errors, lastWritten: this.#lastWritten };
  }

  /** Writes what is not written yet, and nothing after that. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#writing;
    await this.#write();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#writing !== undefined || this.#stopped) return;
    this.#timer = this.#options.clock.after(PAUSE_MILLISECONDS, () => {
      this.#timer = undefined;
      this.#writing = this.#write().then(() => {
        this.#writing = undefined;
        // What failed, was not whole yet or changed meanwhile.
        if (this.#changed) this.#schedule();
      });
    });
  }

  async #write(): Promise<void> {
    const { file, owner, state, clock, log } = this.#options;
    const lines = this.#changed ? state() : undefined;
    if (lines === undefined) return;
    this.#changed = false;
    try {
      await writeSnapshot(file, owner, lines, clock.now());
      this.#written += 1;
      this.#lastWritten = clock.now();
      log.debug('snapshot written', { file, objects: lines.length });
    } catch (error) {
      this.#changed = true;
      this.#errors += 1;
      log.error('snapshot not written', { reason: error instanceof Error ? error.message : String(error) });
    }
  }
}
