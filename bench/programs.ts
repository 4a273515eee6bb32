/**
 * Finds the installed programs of the system: benchmarks compare only with servers that are installed.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Looks where the shell looks, and in the folders where daemons stand. @param program its name, or a path */
export function isInstalled(program: string): boolean {
  if (program.includes('/')) return isExecutable(program);
  const { PATH = '' } = process.env;
  return [...PATH.split(delimiter), '/usr/sbin', '/sbin'].some((folder) =>
    isExecutable(join(folder, program)),
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
