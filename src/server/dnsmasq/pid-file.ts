/**
 * The file that holds the number of the process, for those who send it signals.
 */
import { chownSync, closeSync, constants, openSync, unlinkSync, writeSync } from 'node:fs';
import type { Identity } from './identity.ts';

export class PidFileError extends Error {
  override readonly name = 'PidFileError';
  readonly path: string;

  constructor(path: string, cause: unknown) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    super(
      `cannot write pid file: ${path}: ${reason}. Name another with --pid-file, or none with an empty --pid-file.`,
    );
    this.path = path;
  }
}

const { O_WRONLY, O_CREAT, O_EXCL, O_TRUNC } = constants;

/**
 * Writes the file anew: an old one is removed first, so that a link planted in its place is never followed.
 *
 * A process that was never root goes without where it cannot, as in dnsmasq: a container runs as another user, and
 * its file system is not to be written to.
 *
 * @throws PidFileError for root
 */
export function writePidFile(path: string, pid: number, owner: Identity): void {
  removePidFile(path);
  let fd: number | undefined;
  try {
    fd = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_TRUNC, 0o644);
    writeSync(fd, `${pid}\n`);
  } catch (error) {
    if (process.getuid?.() === 0) throw new PidFileError(path, error);
    return;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
  giveAway(path, owner);
}

/** Where the folder allows it: the user that the process becomes may have to remove the file. */
function giveAway(path: string, { user, group }: Identity): void {
  if (process.getuid?.() !== 0 || user === undefined) return;
  try {
    chownSync(path, user, group ?? user);
  } catch {
    // It is written, and that is what counts.
  }
}

export function removePidFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // There is none, or it may not be removed: then writing it tells.
  }
}
