/**
 * The file that holds the number of the process, for those who send it signals and those who wait for it to serve.
 */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';

const { O_WRONLY, O_CREAT, O_EXCL, O_TRUNC } = constants;

/** How the file is opened: only where there is none, so that a link is never followed; or in the place of what it held. */
export type PidFileOpening = 'new' | 'any';

const FLAGS: Readonly<Record<PidFileOpening, number>> = {
  new: O_WRONLY | O_CREAT | O_EXCL,
  any: O_WRONLY | O_CREAT | O_TRUNC,
};

/** A file that this process has written its number to. */
export class PidFile {
  readonly #path: string;
  readonly #written: string;

  private constructor(path: string, written: string) {
    this.#path = path;
    this.#written = written;
  }

  /** @throws Error of `node:fs` */
  static write(path: string, opening: PidFileOpening): PidFile {
    const descriptor = openSync(path, FLAGS[opening], 0o644);
    try {
      writeSync(descriptor, `${process.pid}\n`);
      return new PidFile(path, writingOf(fstatSync(descriptor, { bigint: true })));
    } finally {
      closeSync(descriptor);
    }
  }

  /**
   * Removes the file, unless another process has written there since: the one that takes over uses the same path. Where
   * this process may not remove it, it stays.
   */
  remove(): void {
    try {
      if (writingOf(statSync(this.#path, { bigint: true })) === this.#written) unlinkSync(this.#path);
    } catch {
      // There is none, or this process may not remove it any more, since it has become another user.
    }
  }
}

/**
 * Which writing of which file it was. The number does not tell: in two containers that share a folder both processes may have
 * the same one. Nor does the file: a new one may get the inode of the one before.
 */
function writingOf({ dev, ino, mtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${mtimeNs}`;
}
