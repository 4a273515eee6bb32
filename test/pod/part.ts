/**
 * One container of a pod: a process that is started, killed, and restarted with the same arguments, as the kubelet does.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { askShort, type Server } from '@portolan/kernel/chain/testing/ask.ts';
import { expect, vi } from 'vitest';
import { afterFile } from '../support/after-file.ts';
import { type RunOptions, runPortolan } from '../support/portolan.ts';

/** What a container runs. */
export type Command =
  | {
      readonly kind: 'portolan';
      readonly args: readonly string[];
      readonly environment?: RunOptions['environment'];
    }
  /** A program of the system. */
  | { readonly kind: 'foreign'; readonly path: string; readonly args: readonly string[] };

interface Run {
  readonly process: ChildProcess;
  said(): string;
}

export class Part {
  readonly name: string;
  readonly #command: Command;
  #run: Run | undefined;

  constructor(name: string, command: Command) {
    this.name = name;
    this.#command = command;
  }

  /** All that the present process has said. */
  get said(): string {
    return this.#run?.said() ?? '';
  }

  start(): void {
    this.#run = run(this.#command);
  }

  /** Ends it at once, without a chance to say farewell. */
  async kill(): Promise<void> {
    const child = this.#run?.process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
  }

  /** @throws what it has said, if it has ended by itself */
  check(): void {
    const { exitCode, signalCode } = this.#run?.process ?? {};
    if (typeof exitCode === 'number' || (typeof signalCode === 'string' && signalCode !== 'SIGKILL'))
      throw new Error(`${this.name} has ended: ${exitCode ?? signalCode}\n${this.said}`);
  }
}

/**
 * Starts them in the order of their manifest; they end after the tests of the file.
 *
 * The sidecar comes when clients are answered: what its first probes miss is found by the next ones only.
 *
 * @param front where clients ask
 */
export async function startAll(parts: readonly Part[], front: Server): Promise<void> {
  for (const part of parts) {
    if (part.name === 'sidecar') await untilAnswered(front, parts);
    afterFile(() => part.kill());
    part.start();
  }
}

async function untilAnswered(front: Server, parts: readonly Part[]): Promise<void> {
  const name = 'kubernetes.default.svc.cluster.local';
  await vi.waitFor(
    async () => {
      checkAll(parts);
      expect(await askShort(front, name, 'A', { deadline: 1_000 })).toBe('10.96.0.1');
    },
    { timeout: 60_000, interval: 50 },
  );
}

/** @throws what a part has said that has ended by itself */
export function checkAll(parts: readonly Part[]): void {
  for (const part of parts) part.check();
}

function run(command: Command): Run {
  if (command.kind === 'portolan') {
    const program = runPortolan(command.args, { environment: command.environment ?? {} });
    return { process: program.process, said: () => program.output + program.errors };
  }
  const child = spawn(command.path, command.args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  return { process: child, said: () => said };
}
