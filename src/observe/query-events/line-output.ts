/**
 * Where lines go: a file, opened again after it was rotated, or a descriptor. Lines that cannot be written are dropped
 * and reported; nothing waits for them but the thread that writes.
 */
import { closeSync, openSync, writeSync } from 'node:fs';

/** Milliseconds between two tries to write to a pipe that is full, and how many there are. */
const PAUSE = 10;
const MAX_TRIES = 100;
const STANDARD_OUTPUT = 1;

export class LineOutput {
  readonly #file: string | undefined;
  readonly #pause = new Int32Array(new SharedArrayBuffer(4));
  #fd: number;

  /** @param file undefined: standard output @throws if it cannot be opened */
  constructor(file: string | undefined) {
    this.#file = file;
    this.#fd = openOutput(file);
  }

  /** @throws if it cannot be opened; what was open stays */
  reopen(): void {
    if (this.#file === undefined) return;
    const fd = openOutput(this.#file);
    closeSync(this.#fd);
    this.#fd = fd;
  }

  /** @throws what keeps lines from being written: a full disk, a reader that is gone */
  write(lines: string): void {
    const octets = Buffer.from(lines);
    let tries = 0;
    for (let from = 0; from < octets.length; ) {
      try {
        from += writeSync(this.#fd, octets, from);
      } catch (error) {
        const isFull = error instanceof Error && 'code' in error && error.code === 'EAGAIN';
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
