/**
 * A log file in append mode that can be reopened after rotation.
 *
 * Lines are collected during one turn of the event loop and written at its end, so a query log costs one write for many lines.
 */
import { closeSync, openSync, writeSync } from 'node:fs';
import { noteLostLines } from '@portolan/kernel/base/log-output.ts';

/** Group-readable, as in dnsmasq. */
const MODE = 0o640;
/** The maximum of buffered octets; lines beyond it are lost, to bound the memory. */
const MAX_WAITING = 2 ** 20;
const NEWLINE = 0x0a;

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

  /** @param line including its newline */
  write(line: string): void {
    if (this.#waiting === '') setImmediate(() => this.flush());
    if (this.#waiting.length < MAX_WAITING) this.#waiting += line;
    else noteLostLines(1);
  }

  /** Writes the buffered lines. A full disk loses lines but has no other effect. */
  flush(): void {
    const octets = Buffer.from(this.#waiting);
    this.#waiting = '';
    let written = 0;
    try {
      while (written < octets.length) written += writeSync(this.#fd, octets, written);
    } catch {
      // There is no place to report this.
      noteLostLines(octets.subarray(written).filter((octet) => octet === NEWLINE).length);
    }
  }

  /**
   * Reopens the file at the path, or keeps the current one if that fails.
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
