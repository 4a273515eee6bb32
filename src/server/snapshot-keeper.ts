/**
 * Keeps the snapshot file near to what is served: soon after changes, not at each of them, and once more at the end.
 */
import type { Clock, Timer } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import type { SnapshotFigures } from '../observe/figures.ts';
import { readSnapshot, type SnapshotOwner, writeSnapshot } from './snapshot-file.ts';

export interface SnapshotKeeperOptions {
  readonly file: string;
  readonly owner: SnapshotOwner;
  /** Another number after every change of the state. */
  readonly generation: () => number;
  /** The state as lines, or undefined while it is not whole. */
  readonly state: () => readonly string[] | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often the file is brought up to date, if anything has changed. */
export const SNAPSHOT_PERIOD = 30_000;

export class SnapshotKeeper {
  readonly #options: SnapshotKeeperOptions;
  #timer: Timer | undefined;
  #generation: number | undefined;
  #writing: Promise<void> | undefined;
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
    if (reading.kind === 'unusable') this.reject(reading.reason);
    if (reading.kind !== 'good') return [];
    log.info('snapshot read', { file, written: reading.written, objects: reading.lines.length });
    return reading.lines;
  }

  /** Reports that the file cannot be used. */
  reject(reason: string): void {
    this.#errors += 1;
    this.#options.log.error('snapshot ignored', { file: this.#options.file, reason });
  }

  /** Begins to write. */
  start(): void {
    this.#timer = this.#options.clock.after(SNAPSHOT_PERIOD, () => {
      this.#writing = this.#writeIfChanged().then(() => {
        this.#writing = undefined;
        if (this.#timer !== undefined) this.start();
      });
    });
  }

  count(): SnapshotFigures {
    return { written: this.#written, errors: this.#errors, lastWritten: this.#lastWritten };
  }

  /** Writes what is not written yet, and nothing after that. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    await this.#writing;
    await this.#writeIfChanged();
  }

  async #writeIfChanged(): Promise<void> {
    const { file, owner, state, clock, log } = this.#options;
    const generation = this.#options.generation();
    const lines = generation === this.#generation ? undefined : state();
    if (lines === undefined) return;
    try {
      await writeSnapshot(file, owner, lines, clock.now());
      this.#generation = generation;
      this.#written += 1;
      this.#lastWritten = clock.now();
      log.debug('snapshot written', { file, objects: lines.length });
    } catch (error) {
      this.#errors += 1;
      log.error('snapshot not written', { reason: error instanceof Error ? error.message : String(error) });
    }
  }
}
