/**
 * The pid file, for programs that send signals to the process or wait until it serves.
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

/** `new`: only if the file does not exist, so that links are not followed; `any`: overwrite an existing file. */
export type PidFileOpening = 'new' | 'any';

const FLAGS: Readonly<Record<PidFileOpening, number>> = {
  new: O_WRONLY | O_CREAT | O_EXCL,
  any: O_WRONLY | O_CREAT | O_TRUNC,
};

/** A file with this process's number. */
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
      return new PidFile(path, toWriteId(fstatSync(descriptor, { bigint: true })));
    } finally {
      closeSync(descriptor);
    }
  }

  /**
   * Removes the file, unless another process has written it since: a process that takes over uses the same path. The file stays if this
   * process may not remove it.
   */
  remove(): void {
    try {
      if (toWriteId(statSync(this.#path, { bigint: true })) === this.#written) unlinkSync(this.#path);
    } catch {
      // It does not exist, or this process has dropped the right to remove it.
    }
  }
}

/**
 * Identifies a write of a file. The process number is not enough: two containers that share a folder may have the same one. The inode
 * is not enough either: a new file may reuse it.
 */
function toWriteId({ dev, ino, mtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${mtimeNs}`;
}
