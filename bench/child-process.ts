/**
 * Starts the measured programs, and ensures that they end with the benchmark.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { type Place, runAt } from './cores.ts';
import { machineTime } from './machine.ts';

const KEPT_CHARACTERS = 2000;
const STOP_MILLISECONDS = 5000;

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class ServerStartError extends Error {
  override readonly name = 'ServerStartError';

  constructor(server: string, fault: string, printed: string) {
    super(`${server} did not start: ${fault}. It printed:\n${printed === '' ? '(nothing)' : printed}`);
  }
}

/** A server, as a process. */
export class ServerProcess {
  readonly name: string;
  readonly pid: number;
  /** When it was started, by the machine's clock. */
  readonly startedAt: number;
  readonly #child: ChildProcess;
  #printed = '';

  private constructor(name: string, child: ChildProcess, pid: number, startedAt: number) {
    this.name = name;
    this.pid = pid;
    this.startedAt = startedAt;
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#printed = (this.#printed + chunk.toString()).slice(-KEPT_CHARACTERS);
      });
    }
  }

  /** @throws ServerStartError where the program cannot be run at all */
  static async start(
    name: string,
    command: string,
    args: readonly string[],
    place: Place = 'server core',
  ): Promise<ServerProcess> {
    const [program, ...rest] = runAt(place, command, args);
    // NODE_EXTRA_CA_CERTS makes Node.js read more certificates at each start.
    const { KUBECONFIG: _, KUBERNETES_SERVICE_HOST: __, NODE_EXTRA_CA_CERTS: ___, ...env } = process.env;
    const startedAt = machineTime();
    const child = spawn(program, rest, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    running.add(child);
    child.once('exit', () => running.delete(child));
    try {
      await once(child, 'spawn');
    } catch (error) {
      running.delete(child);
      throw new ServerStartError(name, describeError(error), '');
    }
    return new ServerProcess(name, child, child.pid ?? 0, startedAt);
  }

  /**
   * Waits until the server does what it is for.
   *
   * @param isReady asked again and again, `pause` milliseconds between
   * @throws ServerStartError if it ends, or is not ready in time
   */
  async waitUntil(isReady: () => Promise<boolean>, milliseconds: number, pause: number): Promise<void> {
    const end = machineTime() + milliseconds;
    while (!(await isReady())) {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null)
        throw this.#fail(`it ended with ${this.#child.exitCode ?? this.#child.signalCode}`);
      if (machineTime() > end) throw this.#fail(`it was not ready after ${milliseconds / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  #fail(fault: string): ServerStartError {
    return new ServerStartError(this.name, fault, this.#printed);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async stop(): Promise<void> {
    if (!running.has(this.#child)) return;
    const ended = once(this.#child, 'exit');
    const killer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MILLISECONDS);
    this.#child.kill('SIGTERM');
    await ended;
    clearTimeout(killer);
  }
}
