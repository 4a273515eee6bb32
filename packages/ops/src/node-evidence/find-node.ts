/**
 * Finds the file system of the node, and how to run its programs: in the pod of `kubectl debug node` it is mounted at `/host`.
 */
import { existsSync } from 'node:fs';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { createRunProgram, type RunProgram } from '@portolan/kernel/base/run-program.ts';

const MOUNTED = '/host';

export interface FoundNode {
  /** The folder of its file system. */
  readonly root: string;
  /** Runs programs of the node; without them no rules are read. */
  readonly run: RunProgram;
}

/** @param given undefined: `/host` if a node is mounted there, else `/` */
export function findNode(given: string | undefined, clock: Clock): FoundNode {
  const root = given ?? (existsSync(`${MOUNTED}/proc/net`) ? MOUNTED : '/');
  const run = createRunProgram(clock);
  if (root === '/') return { root, run };
  // The programs and their libraries are those of the node.
  return {
    root,
    run: ({ program, words, ...call }) =>
      run({ ...call, program: 'chroot', words: [root, program, ...words] }),
  };
}
