/**
 * Programs in process groups of their own, so that they are killed together with what they have started: a wrapper script and the program
 * in it.
 */
import type { ChildProcess } from 'node:child_process';

/** Kills a child that was started with `detached`, and its group. Does nothing for a group that is gone. */
export function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // The errors of `kill`.
    // The group has no processes left, or its number was reused.
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
