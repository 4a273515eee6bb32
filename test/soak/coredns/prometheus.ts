/**
 * A real Prometheus that scrapes DNS pods, with the queries of dashboards and rules.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, onTestFinished } from 'vitest';

export interface Pod {
  readonly name: string;
  /** Of its metrics. */
  readonly port: number;
}

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  /** Seconds since the epoch, and the value. */
  readonly value: readonly [number, string];
}

export class Prometheus {
  readonly #address: string;
  readonly #child: ChildProcess;
  #output = '';

  private constructor(address: string, child: ChildProcess) {
    this.#address = address;
    this.#child = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text;
    });
  }

  /** Scrapes the pods twice a second, with the labels that the Service `kube-dns` gives them. It ends with the test. */
  static async start(pods: readonly Pod[]): Promise<Prometheus> {
    const folder = await makeTemporaryFolder();
    const config = {
      global: { scrape_interval: '500ms', scrape_timeout: '400ms' },
      scrape_configs: [
        {
          job_name: 'kube-dns',
          static_configs: pods.map(({ name, port }) => ({
            targets: [`127.0.0.1:${port}`],
            labels: { pod: name, k8s_app: 'kube-dns' },
          })),
        },
      ],
    };
    const file = await folder.write('prometheus.json', JSON.stringify(config));
    const address = `127.0.0.1:${await findFreePort()}`;
    const child = spawn(
      'prometheus',
      [
        `--config.file=${file}`,
        `--storage.tsdb.path=${folder.path}/data`,
        `--web.listen-address=${address}`,
        '--log.level=warn',
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const ended = new Promise((resolve) => child.once('close', resolve));
    const prometheus = new Prometheus(address, child);
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    await expect.poll(() => prometheus.#isReady(), { timeout: 60_000 }).toBe(true);
    return prometheus;
  }

  /** @throws Error with what Prometheus says of an expression that it does not take */
  async query(expression: string): Promise<readonly Sample[]> {
    const query = new URLSearchParams({ query: expression });
    const response = await fetch(`http://${this.#address}/api/v1/query?${query}`);
    // The form of its API, version 1.
    const { status, data, error } = (await response.json()) as {
      readonly status: string;
      readonly error?: string;
      readonly data: { readonly result: readonly Sample[] };
    };
    if (status !== 'success') throw new Error(`${expression}: ${error}`);
    return data.result;
  }

  /** Whether an expression has a result with a number in it. */
  async has(expression: string): Promise<boolean> {
    const samples = await this.query(expression);
    return samples.some(({ value }) => value[1] !== 'NaN');
  }

  async #isReady(): Promise<boolean> {
    if (this.#child.exitCode !== null) throw new Error(`Prometheus has ended: ${this.#output}`);
    try {
      return (await fetch(`http://${this.#address}/-/ready`)).ok;
    } catch {
      return false;
    }
  }
}
