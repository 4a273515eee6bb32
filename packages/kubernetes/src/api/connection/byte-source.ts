/**
 * Fixed octets, and octets in a file that others replace.
 */
import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { ByteSource } from './settings.ts';

export function fixedBytes(bytes: Buffer): ByteSource {
  return { read: async () => bytes, expire() {} };
}

/** Minimum interval between two checks of a file, in milliseconds. */
const LOOK_EVERY = 60_000;

/**
 * A file that is rotated, such as the tokens and CAs of service accounts, where a link is swapped.
 *
 * It is checked at most once a minute and read if it has changed. If it cannot be read, its last content stays in use.
 */
export class RotatingFile implements ByteSource {
  readonly #path: string;
  readonly #clock: Clock;
  #held: { readonly bytes: Buffer; readonly mark: string } | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  /** @throws {Error} with the file's name, if it could never be read */
  async read(): Promise<Buffer> {
    const now = this.#clock.monotonic();
    if (this.#held !== undefined && now - this.#lookedAt < LOOK_EVERY) return this.#held.bytes;
    try {
      const { mtimeMs, ino, size } = await stat(this.#path);
      const mark = `${mtimeMs} ${ino} ${size}`;
      if (this.#held?.mark !== mark) this.#held = { bytes: await readFile(this.#path), mark };
    } catch (error) {
      if (this.#held === undefined) throw error;
    }
    this.#lookedAt = now;
    return this.#held.bytes;
  }

  expire(): void {
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    if (this.#held !== undefined) this.#held = { ...this.#held, mark: '' };
  }
}
