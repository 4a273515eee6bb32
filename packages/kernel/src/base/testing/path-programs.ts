/**
 * Programs of a test in place of those of the system: shell scripts in a folder at the front of PATH.
 */
import { readFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { onTestFinished, vi } from 'vitest';
import { makeTemporaryFolder } from './temporary-folder.ts';

/** The part of a script that writes what a program may write to standard error without having failed. */
export const NOISE = `printf '%s\\n' 'Cannot read termcap database;' 'using dumb terminal settings.' 'Error: all is well' >&2
`;
/** The part of a script that goes on as the program of the system with its name. */
export const REAL_PROGRAM = `PATH=\${PATH#*:}; exec "\${0##*/}" "$@"
`;

/** @param scripts by name, for `/bin/sh` @returns the folder, which is at the front of PATH until the test ends */
export async function putInPath(scripts: Readonly<Record<string, string>>): Promise<string> {
  const folder = await makeTemporaryFolder();
  for (const [name, script] of Object.entries(scripts))
    await chmod(await folder.write(name, `#!/bin/sh\n${script}`), 0o755);
  vi.stubEnv('PATH', `${folder.path}:${process.env['PATH']}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder.path;
}

/** Whether the process runs that wrote its number into a file. A zombie does not. */
export function isRunning(file: string): boolean {
  const pid = readFileSync(file, 'utf8').trim();
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Whether a process has written its number, as a line, into the file. */
export function hasStarted(file: string): boolean {
  try {
    return readFileSync(file, 'utf8').endsWith('\n');
  } catch {
    return false;
  }
}
