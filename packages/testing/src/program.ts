/**
 * A program in a process of its own: starts it, reads what it prints, and ends it.
 */
import { type ChildProcess, spawn } from 'node:child_process';

export interface LogLine {
  readonly time: string;
  readonly level: string;
  readonly message: string;
  readonly [field: string]: string | number | boolean;
}

export interface ProgramExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProgramOptions {
  /** Default: that of this process. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Where it runs. Default: where this process does. */
  readonly folder?: string;
  /** Its standard input. Default: none. */
  readonly input?: string;
}

/** A running, or ended, process. */
export class Program {
  readonly process: ChildProcess;
  readonly exit: Promise<ProgramExit>;
  /** What it has printed so far, and both of it in the order in which it came. */
  output = '';
  errors = '';
  said = '';
  /** If it could not start, `errors` and `said` say why. */
  ended: ProgramExit | undefined;
  #heard: () => void = () => {};

  /** @param command the program and its arguments */
  constructor(
    [program = '', ...words]: readonly string[],
    { environment, folder, input }: ProgramOptions = {},
  ) {
    this.process = spawn(program, words, {
      env: environment ?? process.env,
      ...(folder !== undefined && { cwd: folder }),
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.output += text;
      this.said += text;
    });
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
      this.said += text;
      this.#heard();
    });
    this.process.stdin?.on('error', () => {}).end(input);
    this.process.on('error', ({ message }) => {
      this.errors += `${message}\n`;
      this.said += `${message}\n`;
    });
    this.exit = new Promise((resolve) => {
      this.process.on('close', (code, signal) => {
        this.ended = { code, signal };
        resolve(this.ended);
        this.#heard();
      });
    });
  }

  /** The lines of its log so far, which are JSON. */
  get log(): readonly LogLine[] {
    const whole = this.errors.slice(0, this.errors.lastIndexOf('\n') + 1);
    return whole
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine); // Our own format.
  }

  /** The first line of the log with this message, as soon as it is there. */
  async heard(message: string, deadline = 30_000): Promise<LogLine> {
    const end = performance.now() + deadline;
    for (;;) {
      const line = this.log.find((each) => each.message === message);
      if (line !== undefined) return line;
      if (this.ended !== undefined || performance.now() > end) {
        const state = this.ended === undefined ? 'not said in time' : 'ended without saying';
        throw new Error(`${state}: ${message}\n${this.output}${this.errors}`);
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, end - performance.now());
        this.#heard = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.process.kill(signal);
  }

  /** Kills it, unless it has ended, and waits for its end. */
  async end(): Promise<void> {
    if (this.ended === undefined) this.signal('SIGKILL');
    await this.exit;
  }
}
