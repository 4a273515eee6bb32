/**
 * One container of a pod: a process that is started, killed, and restarted with the same arguments, as the kubelet does.
 */
import { askShort } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { Program } from '@portolan/testing/program.ts';
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

export class Part {
  readonly name: string;
  readonly #command: Command;
  #program: Program | undefined;

  constructor(name: string, command: Command) {
    this.name = name;
    this.#command = command;
  }

  /** All that the present process has said. */
  get said(): string {
    return this.#program?.said ?? '';
  }

  start(): void {
    this.#program = run(this.#command);
  }

  /** Ends it at once, without a chance to say farewell. */
  async kill(): Promise<void> {
    await this.#program?.end();
  }

  /** @throws what it has said, if it has ended by itself */
  check(): void {
    const { exitCode, signalCode } = this.#program?.process ?? {};
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
export async function startAll(parts: readonly Part[], front: DnsServer): Promise<void> {
  for (const part of parts) {
    if (part.name === 'sidecar') await untilAnswered(front, parts);
    afterFile(() => part.kill());
    part.start();
  }
}

async function untilAnswered(front: DnsServer, parts: readonly Part[]): Promise<void> {
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

function run(command: Command): Program {
  if (command.kind === 'portolan')
    return runPortolan(command.args, { environment: command.environment ?? {} });
  return new Program([command.path, ...command.args]);
}
