/**
 * Runs a system program to its end, with an input. What it does counts: its exit status and its output, not what it writes to standard
 * error, where programs also warn.
 */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Clock } from './clock.ts';
import { describeError } from './describe-error.ts';
import { killGroup } from './process-group.ts';

/** A program failed, could not be started, or did not end. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
  /** All that it wrote to standard error: the message has only the end. */
  readonly complaint: string;
  /** Whether there is no such program. */
  readonly isMissing: boolean;

  constructor(message: string, complaint = message, isMissing = false) {
    super(message);
    this.complaint = complaint;
    this.isMissing = isMissing;
  }
}

export interface ProgramCall {
  readonly program: string;
  readonly words: readonly string[];
  /** Its standard input. Default: none. */
  readonly input?: string;
  /** The folder in which it runs. Default: that of this process. */
  readonly folder?: string | undefined;
  /** Milliseconds until it is killed. Default: 15,000, longer than iptables waits for its lock. */
  readonly timeout?: number;
}

/** Milliseconds. */
const TIMEOUT = 15_000;
/** Milliseconds after a program's exit until its outputs are closed, even if other processes have them open. */
const GRACE = 1_000;
/** Characters of output that are kept: enough for the rules of a large cluster. */
const MAX_OUTPUT = 2 ** 26;
/** Of standard error, the lines and characters that a message repeats. The error comes last; iptables and nft use up to three lines. */
const MAX_LINES = 3;
const MAX_COMPLAINT = 500;

export type RunProgram = (call: ProgramCall) => Promise<string>;

/**
 * @returns a function that runs a program and returns its standard output
 * @throws ProgramError when that function is called
 */
export function createRunProgram(clock: Clock): RunProgram {
  return ({ program, words, input = '', folder, timeout = TIMEOUT }) =>
    new Promise((resolve, reject) => {
      const child = startProgram(program, words, clock, folder);
      const outputs = { out: '', error: '' };
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        if (outputs.out.length < MAX_OUTPUT) outputs.out += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        if (outputs.error.length < MAX_OUTPUT) outputs.error += text;
      });
      const fail = (reason: string, isMissing = false) => {
        timer.cancel();
        const message = `${program} ${words.join(' ')}: ${reason}`;
        reject(new ProgramError(message, outputs.error || reason, isMissing));
      };
      const timer = clock.after(timeout, () => {
        killGroup(child);
        fail(`did not end within ${timeout / 1_000} s`);
      });
      child.on('error', (error: NodeJS.ErrnoException) => fail(error.message, error.code === 'ENOENT'));
      child.once('exit', () => timer.cancel());
      child.once('close', (code, signal) => {
        if (code === 0) resolve(outputs.out);
        else fail(lastLines(outputs.error) || `ended with ${signal ?? `exit status ${code}`}`);
      });
      child.stdin.end(input);
    });
}

/**
 * Starts a program in a process group of its own: a wrapper is killed together with the program in it. An error that comes later, such as
 * a missing program, is an event of the child. Errors of its pipes are heard here: the program then ends, or `close` follows. The event
 * `close` follows `exit` within a second, whoever else has the outputs open.
 *
 * @throws ProgramError if the system starts no program, for instance because memory is short
 */
export function startProgram(
  program: string,
  words: readonly string[],
  clock: Clock,
  folder?: string,
): ChildProcessWithoutNullStreams {
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(program, [...words], { detached: true, stdio: 'pipe', cwd: folder });
  } catch (error) {
    throw new ProgramError(`${program}: ${describeError(error)}`);
  }
  for (const each of [child, child.stdin, child.stdout, child.stderr]) each.on('error', () => {});
  child.once('exit', () => {
    const grace = clock.after(GRACE, () => {
      child.stdout.destroy();
      child.stderr.destroy();
    });
    child.once('close', () => grace.cancel());
  });
  return child;
}

/** The end of what a program wrote to standard error, in one line. */
export function lastLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  const last = lines.filter((line) => line !== '').slice(-MAX_LINES);
  return last.join('; ').slice(-MAX_COMPLAINT);
}
