/**
 * Keeps servers and their clients on different cores, if `taskset` is installed: the first core is for the server, all
 * others are for the other processes.
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { isInstalled } from './programs.ts';

const PROGRAM = 'taskset';
/** Asked before any process was moved: it counts the cores that this one may use. */
const CORES = availableParallelism();
const CORES_OF: Readonly<Record<Place, string>> = {
  'server core': '0',
  'other cores': `1-${CORES - 1}`,
  'all cores': `0-${CORES - 1}`,
};

export function canSeparate(): boolean {
  return CORES > 1 && isInstalled(PROGRAM);
}

/** Moves this process, and all that it starts from now on, off the core of the servers. */
export function leaveServerCore(): void {
  move(process.pid, CORES_OF['other cores']);
}

/** Where a program may run: on the core of the servers, with those who ask them, or on all there are. */
export type Place = 'server core' | 'other cores' | 'all cores';

/** The command that runs a command at its place. */
export function runAt(
  place: Place,
  command: string,
  args: readonly string[],
): readonly [string, ...string[]] {
  return canSeparate() ? [PROGRAM, '-c', CORES_OF[place], command, ...args] : [command, ...args];
}

/** Moves a process with all its threads to the core of the servers. */
export function moveToServerCore(pid: number): void {
  move(pid, CORES_OF['server core']);
}

function move(pid: number, cores: string): void {
  if (canSeparate()) spawnSync(PROGRAM, ['-a', '-c', '-p', cores, String(pid)]);
}
