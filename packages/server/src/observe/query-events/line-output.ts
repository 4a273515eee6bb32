/**
 * Writes lines to a file, which can be reopened after rotation, or to a descriptor. Lines that cannot be written are dropped and
 * reported; only the writing thread waits.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { findErrorCode } from '@portolan/kernel/base/system-errors.ts';

/** Milliseconds between attempts to write to a full pipe, and the number of attempts. */
const PAUSE = 10;
const MAX_TRIES = 100;
const STANDARD_OUTPUT = 1;

export class LineOutput {
  readonly #file: string | undefined;
  readonly #pause = new Int32Array(new SharedArrayBuffer(4));
  #fd: number;

  /** @param file undefined: standard output @throws if the file cannot be opened */
  constructor(file: string | undefined) {
    this.#file = file;
    this.#fd = openOutput(file);
  }

  get file(): string | undefined {
    return this.#file;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#fd);
  }

  /** @throws if the file cannot be opened; the current one stays open */
  reopen(): void {
    if (this.#file === undefined) return;
    const fd = openOutput(this.#file);
    closeSync(this.#fd);
    this.#fd = fd;
  }

  /** @throws the reason why lines cannot be written, such as a full disk or a closed pipe */
  write(octets: Uint8Array): void {
    let tries = 0;
    for (let from = 0; from < octets.length; ) {
      try {
        from += writeSync(this.#fd, octets, from);
      } catch (error) {
        const isFull = findErrorCode(error) === 'EAGAIN';
        tries += 1;
        if (!isFull || tries > MAX_TRIES) throw error;
        Atomics.wait(this.#pause, 0, 0, PAUSE);
      }
    }
  }
}

function openOutput(file: string | undefined): number {
  return file === undefined ? STANDARD_OUTPUT : openSync(file, 'a', 0o640);
}
