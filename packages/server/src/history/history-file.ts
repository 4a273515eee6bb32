/**
 * The file of a history: lines that are appended, so that a killed process loses a minute at most. It is bounded: when it has half of its
 * octets, it becomes the former file, with `.1` behind its name, in place of the one before.
 */
import { constants, createReadStream } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { OutageLog } from '@portolan/kernel/base/outage-log.ts';

export interface HistoryFileOptions {
  readonly path: string;
  /** Of both files together. */
  readonly octets: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Only the server's own user may read who asked what. */
const MODE = 0o600;
const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants;
/** Characters that wait for a slow disk; more are not written. */
const MAX_WAITING = 4 * 2 ** 20;

export class HistoryFile {
  readonly #options: HistoryFileOptions;
  readonly #outage: OutageLog;
  #waiting = '';
  #writing: Promise<void> = Promise.resolve();
  #isWriting = false;
  /** What was there before is read first. */
  #isOpen = false;

  constructor(options: HistoryFileOptions) {
    this.#options = options;
    this.#outage = new OutageLog(options.log, options.clock, {
      failed: 'history not written',
      ended: 'history written again',
    });
  }

  /** The lines of both files, oldest first. Files that are not there have none. */
  async *read(): AsyncIterable<string> {
    const { path } = this.#options;
    yield* this.#readLines(`${path}.1`);
    yield* this.#readLines(path);
  }

  /** Appends lines once the file is open, sooner or later. */
  append(lines: readonly string[]): void {
    const text = lines.map((line) => `${line}\n`).join('');
    if (this.#waiting.length + text.length > MAX_WAITING) return;
    this.#waiting += text;
    if (this.#isOpen) this.#begin();
  }

  /** Writes from now on. */
  open(): void {
    this.#isOpen = true;
    this.#begin();
  }

  #begin(): void {
    if (this.#isWriting || this.#waiting === '') return;
    this.#isWriting = true;
    this.#writing = this.#writeAll();
  }

  /** Settles once all is written that was appended. */
  async stop(): Promise<void> {
    this.open();
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting !== '') {
      const text = this.#waiting;
      this.#waiting = '';
      try {
        await this.#write(text);
        this.#outage.ended();
      } catch (error) {
        this.#outage.failed('write', { path: this.#options.path, reason: describeError(error) });
      }
    }
    this.#isWriting = false;
  }

  async #write(text: string): Promise<void> {
    const { path, octets } = this.#options;
    const size = await stat(path).then(
      (found) => found.size,
      () => 0,
    );
    if (size > 0 && size + Buffer.byteLength(text) > octets / 2) await rename(path, `${path}.1`);
    const file = await open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, MODE);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
  }

  async *#readLines(path: string): AsyncIterable<string> {
    const { octets } = this.#options;
    try {
      // Another program may have made it larger.
      const { size } = await stat(path);
      if (size > octets) throw new Error('too large');
      yield* createInterface({ input: createReadStream(path, { end: octets }) });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.#options.log.warn('history not read', { path, reason: describeError(error) });
    }
  }
}
