/**
 * Runs a system program to its end, with an input.
 */
import { spawn } from 'node:child_process';
import type { Clock } from '../../base/clock.ts';

/** A program failed or could not be started. */
export class ProgramError extends Error {
  override readonly name = 'ProgramError';
}

export interface ProgramCall {
  readonly program: string;
  readonly words: readonly string[];
  /** Its standard input. Default: none. */
  readonly input?: string;
}

/** Milliseconds: longer than iptables waits for its lock. */
const TIMEOUT = 15_000;
/** Characters of output that are kept: enough for the rules of a large cluster. */
const MAX_OUTPUT = 2 ** 26;

export type RunProgram = (call: ProgramCall) => Promise<string>;

/**
 * @returns a function that runs a program and returns its standard output
 * @throws ProgramError when that function is called
 */
export function createRunProgram(clock: Clock): RunProgram {
  return ({ program, words, input = '' }) =>
    new Promise((resolve, reject) => {
      const child = spawn(program, [...words], { stdio: ['pipe', 'pipe', 'pipe'] });
      const outputs = { out: '', error: '' };
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        if (outputs.out.length < MAX_OUTPUT) outputs.out += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        if (outputs.error.length < MAX_OUTPUT) outputs.error += text;
      });
      const timer = clock.after(TIMEOUT, () => child.kill('SIGKILL'));
      const fail = (reason: string) => {
        timer.cancel();
        reject(new ProgramError(`${program} ${words.join(' ')}: ${reason}`));
      };
      for (const emitter of [child, child.stdout, child.stderr])
        emitter.on('error', ({ message }) => fail(message));
      child.once('close', (code, signal) => {
        timer.cancel();
        if (code === 0) resolve(outputs.out);
        else fail(firstLines(outputs.error) || `ended with ${signal ?? `exit status ${code}`}`);
      });
      // A program that ends without reading its input closes the pipe.
      child.stdin.on('error', () => {});
      child.stdin.end(input);
    });
}

/** The second line is needed for the error of a failed lock. */
function firstLines(text: string): string {
  return text.trim().split('\n').slice(0, 2).join('; ');
}
