/**
 * Runs a shell command to its end or kills it, together with its child processes, which would otherwise pile up.
 *
 * It keeps output up to a limit, and discards the rest, so that the command never blocks on a full pipe.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { killGroup } from '@portolan/kernel/base/process-group.ts';

export interface CommandEnd {
  /** The output of stdout and stderr, in order of arrival. */
  readonly output: string;
  /** Undefined if it ended with exit code 0. In the words of Go: `exit status 1`, `signal: killed`. */
  readonly error: string | undefined;
}

export interface RunningCommand {
  /** Never rejects. */
  readonly ended: Promise<CommandEnd>;
  /** Kills it. */
  kill(): void;
}

/** Octets of a command's output that are kept. */
const MAX_OUTPUT = 8_192;
/** Milliseconds after the command's exit until its output is closed, even if other processes have it open. */
const GRACE = 1_000;

/** @param timeout milliseconds after which it is killed */
export function runShellCommand(command: string, timeout: number, clock: Clock): RunningCommand {
  let child: ChildProcess;
  try {
    // A process group of its own, to kill it as a whole.
    child = spawn('/bin/sh', ['-c', command], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    // The system starts no process, for instance because memory is short.
    const message = describeError(error);
    return { ended: Promise.resolve({ output: '', error: message }), kill() {} };
  }
  const output = collectOutput(child);
  let isLate = false;
  const timer = clock.after(timeout, () => {
    isLate = true;
    killGroup(child);
  });
  const ended = waitForEnd(child, clock).then((error): CommandEnd => {
    timer.cancel();
    return { output: output(), error: isLate ? `${error ?? 'ended'}, after ${timeout / 1000} s` : error };
  });
  return { ended, kill: () => killGroup(child) };
}

function collectOutput(child: ChildProcess): () => string {
  const parts: Buffer[] = [];
  let capacity = MAX_OUTPUT;
  let isCut = false;
  const take = (octets: Buffer) => {
    // Copy the part: a view would keep the whole buffer in memory.
    if (capacity > 0) parts.push(Buffer.from(octets.subarray(0, capacity)));
    isCut ||= octets.length > capacity;
    capacity = Math.max(0, capacity - octets.length);
  };
  child.stdout?.on('data', take).on('error', () => {});
  child.stderr?.on('data', take).on('error', () => {});
  return () => `${Buffer.concat(parts).toString()}${isCut ? '…' : ''}`;
}

/** Resolves once it has ended and its outputs are read. @returns the error, if any */
function waitForEnd(child: ChildProcess, clock: Clock): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.once('exit', () => {
      killGroup(child);
      const timer = clock.after(GRACE, () => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      });
      child.once('close', () => timer.cancel());
    });
    child.once('close', (code: number | null, signal: NodeJS.Signals | null) => {
      if (signal !== null) resolve(`signal: ${SIGNAL_WORDS[signal] ?? signal}`);
      else resolve(code === 0 ? undefined : `exit status ${code}`);
    });
  });
}

const SIGNAL_WORDS: Readonly<Partial<Record<NodeJS.Signals, string>>> = {
  SIGKILL: 'killed',
  SIGTERM: 'terminated',
  SIGSEGV: 'segmentation fault',
};
