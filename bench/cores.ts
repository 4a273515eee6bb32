/**
 * Keeps servers and those who ask them on different cores, where `taskset` is there to do it: the first core is the
 * server's, all others are everybody else's.
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { isInstalled } from './programs.ts';

const PROGRAM = 'taskset';
const SERVER_CORE = '0';
/** Asked before any process was moved: it counts the cores that this one may use. */
const CORES = availableParallelism();

export function canSeparate(): boolean {
  return CORES > 1 && isInstalled(PROGRAM);
}

/** Moves this process, and all that it starts from now on, off the core of the servers. */
export function leaveServerCore(): void {
  if (canSeparate()) spawnSync(PROGRAM, ['-a', '-c', '-p', `1-${CORES - 1}`, String(process.pid)]);
}

/** The command that runs a command on the core of the servers. */
export function onServerCore(command: string, args: readonly string[]): readonly [string, ...string[]] {
  return canSeparate() ? [PROGRAM, '-c', SERVER_CORE, command, ...args] : [command, ...args];
}
