/**
 * The pid file of dnsmasq: written by root, owned by the user that the process becomes.
 */
import { chownSync, unlinkSync } from 'node:fs';
import { PidFile } from '@portolan/server/pid-file.ts';
import type { UserAndGroup } from './identity.ts';

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
 * Writes a new file. An old one is removed first, so that a planted link is never followed.
 *
 * As in dnsmasq, a process that was never root ignores failures: containers often run as another user with a read-only file system.
 *
 * @throws PidFileError for root
 */
export function writePidFile(path: string, owner: UserAndGroup): PidFile | undefined {
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
    // It does not exist, or this process may not remove it; in the latter case the write fails too.
  }
}

/** Changes the owner if possible: the process may have to remove the file after it drops root. */
function giveAway(path: string, { user, group }: UserAndGroup): void {
  if (process.getuid?.() !== 0 || user === undefined) return;
  try {
    chownSync(path, user, group ?? user);
  } catch {
    // Ignore this: the file is written.
  }
}
