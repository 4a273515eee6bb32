/**
 * A log file that is appended to, and opened again when it was rotated away.
 *
 * Lines are gathered during one turn of the event loop and written at its end, so that a log of every query costs one write
 * for many.
 */
import { closeSync, openSync, writeSync } from 'node:fs';

/** Readable for the group, as dnsmasq makes it. */
const MODE = 0o640;
/** Octets that may wait: beyond, lines are lost rather than memory. */
const MAX_WAITING = 2 ** 20;

export class LogFileError extends Error {
  override readonly name = 'LogFileError';
  readonly path: string;

  constructor(path: string, cause: unknown) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    super(`cannot open log: ${path}: ${reason}. Give a file in a folder that exists and may be written to.`);
    this.path = path;
  }
}

export class LogFile {
  readonly #path: string;
  #fd: number;
  #waiting = '';

  /** @throws LogFileError */
  constructor(path: string) {
    this.#path = path;
    this.#fd = openLog(path);
  }

  /** @param line with its end */
  write(line: string): void {
    if (this.#waiting === '') setImmediate(() => this.flush());
    if (this.#waiting.length < MAX_WAITING) this.#waiting += line;
  }

  /** Writes what waits. A full disk loses lines and nothing else. */
  flush(): void {
    const octets = Buffer.from(this.#waiting);
    this.#waiting = '';
    try {
      for (let written = 0; written < octets.length; ) written += writeSync(this.#fd, octets, written);
    } catch {
      // There is nowhere to say it.
    }
  }

  /**
   * Goes on in the file that has the path now. The old one is kept where there can be no new one.
   *
   * @throws LogFileError
   */
  reopen(): void {
    this.flush();
    const fd = openLog(this.#path);
    closeSync(this.#fd);
    this.#fd = fd;
  }
}

/** @throws LogFileError */
function openLog(path: string): number {
  try {
    return openSync(path, 'a', MODE);
  } catch (error) {
    throw new LogFileError(path, error);
  }
}
