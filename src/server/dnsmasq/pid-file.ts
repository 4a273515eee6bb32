/**
 * The pid file of dnsmasq: written as root, for the user that the process becomes.
 */
import { chownSync, unlinkSync } from 'node:fs';
import { PidFile } from '../pid-file.ts';
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

/**
 * Writes a new file: an old one is removed first, so that a link planted in its place is never followed.
 *
 * A process that was never root goes without where it cannot, as in dnsmasq: a container runs as another user, and
 * its file system is not to be written to.
 *
 * @throws PidFileError for root
 */
export function writePidFile(path: string, owner: Identity): PidFile | undefined {
  removeOld(path);
  try {
    const file = PidFile.write(path, 'new');
    giveAway(path, owner);
    return file;
  } catch (error) {
    if (process.getuid?.() === 0) throw new PidFileError(path, error);
    return undefined;
  }
}

function removeOld(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // There is none, or this process may not remove it: then it cannot write a new one either.
  }
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
