/**
 * The built program in a process of its own: starts it on free ports, reads its output, and ends it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';

const ENTRY = fileURLToPath(new URL('../../dist/portolan.js', import.meta.url));

export interface LogLine {
  readonly time: string;
  readonly level: string;
  readonly message: string;
  readonly [field: string]: string | number | boolean;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** A command that runs the program, which is appended to it: `unshare`, a shell with limits. It must become it by exec. */
  readonly through?: readonly string[];
}

/** A running, or ended, process. */
export class Program {
  readonly process: ChildProcess;
  readonly exit: Promise<Exit>;
  output = '';
  errors = '';
  ended: Exit | undefined;
  #heard: () => void = () => {};

  constructor(args: readonly string[], { environment = {}, through = [] }: RunOptions = {}) {
    const { PATH = '' } = process.env;
    // Nothing of the machine that the tests run on: neither its kubeconfig nor its cluster.
    const env = { PATH, HOME: '/nonexistent', ...environment };
    const [command = process.execPath, ...rest] = [...through, process.execPath, ENTRY, ...args];
    this.process = spawn(command, rest, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.output += text;
    });
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.errors += text;
      this.#heard();
    });
    this.exit = new Promise((resolve) => {
      this.process.on('close', (code, signal) => {
        this.ended = { code, signal };
        resolve(this.ended);
        this.#heard();
      });
    });
  }

  /** The lines of the log so far. */
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
}

const running = new Set<Program>();

/** Runs a command of the program. */
export function runPortolan(args: readonly string[], options?: RunOptions): Program {
  const program = new Program(args, options);
  running.add(program);
  void program.exit.then(() => running.delete(program));
  return program;
}

/** For `afterEach`: no test leaves a process behind. */
export async function endAllPrograms(): Promise<void> {
  for (const program of running) program.signal('SIGKILL');
  await Promise.all([...running].map((program) => program.exit));
}

/** A program that serves. */
export interface Serving {
  readonly program: Program;
  /** Where it answers DNS. */
  readonly address: string;
  readonly port: number;
  /** `http://127.0.0.1:12345`. */
  readonly health: string;
}

export interface ServeOptions extends RunOptions {
  readonly port?: number;
  readonly address?: string;
}

/** Unless they say otherwise, tests ask none of the servers that the machine knows. */
const isAboutUpstreams = (flag: string): boolean => /^--(upstream|resolv-file)(=|$)/.test(flag);

/** Runs `portolan serve` on a free port of loopback, until its sockets are open. */
export async function servePortolan(
  flags: readonly string[],
  { address = '127.0.0.1', port, ...options }: ServeOptions = {},
): Promise<Serving> {
  const own = port ?? (await findFreePort(address));
  const program = runPortolan(
    [
      'serve',
      '--dns-bind-address',
      address,
      '--dns-port',
      String(own),
      '--healthz-port',
      `${address}:0`,
      '--log-format',
      'json',
      ...(flags.some(isAboutUpstreams) ? [] : ['--upstream=none']),
      ...flags,
    ],
    options,
  );
  const line = await program.heard('serving');
  return { program, address, port: own, health: String(line['health']) };
}

/** What a path of the health server says: status and text. */
export async function look(serving: Serving, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${serving.health}${path}`);
  return { status: response.status, text: await response.text() };
}
