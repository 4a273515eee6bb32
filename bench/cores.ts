/**
 * Keeps servers and those who ask them on different cores, where `taskset` is there to do it: the first core is the
 * server's, all others are everybody else's.
 */
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { isInstalled } from './programs.ts';

const PROGRAM = 'taskset';
const SERVER_CORE = '0';
const others = () => `1-${availableParallelism() - 1}`;

export function canSeparate(): boolean {
  return availableParallelism() > 1 && isInstalled(PROGRAM);
}

/** Moves this process, and all that it starts from now on, off the core of the servers. */
export function leaveServerCore(): void {
  if (canSeparate()) spawnSync(PROGRAM, ['-a', '-c', '-p', others(), String(process.pid)]);
}

/** The command that runs a command on the core of the servers. */
export function onServerCore(command: string, args: readonly string[]): readonly [string, ...string[]] {
  return canSeparate() ? [PROGRAM, '-c', SERVER_CORE, command, ...args] : [command, ...args];
}
