/**
 * An etcd with one member, which can be killed and restarted with its data.
 */
import { join } from 'node:path';
import { ServerProcess } from './child-process.ts';
import { findFreePort } from './free-port.ts';
import type { Workplace } from './workplace.ts';

const START_MILLISECONDS = 10_000;

export class EtcdProcess {
  readonly url: string;
  readonly #args: readonly string[];
  #process: ServerProcess;

  private constructor(url: string, args: readonly string[], process: ServerProcess) {
    this.url = url;
    this.#args = args;
    this.#process = process;
  }

  /** Ends when it serves clients. */
  static async start({ folder }: Workplace): Promise<EtcdProcess> {
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const peer = `http://127.0.0.1:${await findFreePort()}`;
    const args = [
      '--data-dir',
      join(folder, 'etcd'),
      '--listen-client-urls',
      url,
      '--advertise-client-urls',
      url,
      '--listen-peer-urls',
      peer,
      '--initial-advertise-peer-urls',
      peer,
      '--initial-cluster',
      `default=${peer}`,
      '--log-level',
      'error',
    ];
    const etcd = new EtcdProcess(url, args, await run(args));
    await etcd.#waitUntilHealthy();
    return etcd;
  }

  get process(): ServerProcess {
    return this.#process;
  }

  async kill(): Promise<void> {
    this.#process.signal('SIGKILL');
    await this.#process.stop();
  }

  /** Ends when it serves clients again. */
  async start(): Promise<void> {
    this.#process = await run(this.#args);
    await this.#waitUntilHealthy();
  }

  async #waitUntilHealthy(): Promise<void> {
    const isHealthy = async () => (await fetch(`${this.url}/health`).catch(() => undefined))?.ok === true;
    await this.#process.waitUntil(isHealthy, START_MILLISECONDS, 20);
  }
}

async function run(args: readonly string[]): Promise<ServerProcess> {
  return await ServerProcess.start('etcd', 'etcd', args, 'all cores');
}
