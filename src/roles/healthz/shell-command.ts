/**
 * A command of the shell, run to its end or killed; with all that it has started, which would else pile up.
 *
 * What it prints is kept up to a bound, and read on beyond it, so that it never stops for want of a reader.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '../../base/clock.ts';

export interface CommandEnd {
  /** What it printed, on both its outputs, in the order in which it came. */
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

/** Octets that are kept of what a command prints. */
const MAX_OUTPUT = 8_192;
/** Milliseconds after the command's exit until its output is closed, though other processes may have it open. */
const GRACE = 1_000;

/** @param timeout milliseconds after which it is killed */
export function runShellCommand(command: string, timeout: number, clock: Clock): RunningCommand {
  // A group of its own, to be killed as one.
  const child = spawn('/bin/sh', ['-c', command], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = collectOutput(child);
  let isLate = false;
  const timer = clock.after(timeout, () => {
    isLate = true;
    killGroup(child);
  });
  const ended = endOf(child, clock).then((error): CommandEnd => {
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
    // Copies: a part of what was read would keep all of it.
    if (capacity > 0) parts.push(Buffer.from(octets.subarray(0, capacity)));
    isCut ||= octets.length > capacity;
    capacity = Math.max(0, capacity - octets.length);
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  return () => `${Buffer.concat(parts).toString()}${isCut ? '…' : ''}`;
}

/** @returns what is wrong with how it ended, once it has ended and its outputs are read */
function endOf(child: ChildProcess, clock: Clock): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
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

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // What `kill` fails with.
    // No process of the group is left, or its number was reused.
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}
