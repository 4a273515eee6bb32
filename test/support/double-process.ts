/**
 * The API server double in a process of its own, controlled over HTTP, and kubeconfigs for it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import type { Access } from '../api-server/access.ts';
import type { FaultRule } from '../api-server/faults.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';
import { bundleThread } from './bundle-thread.ts';

export interface DoubleState {
  readonly version: number;
  readonly watches: number;
  readonly objects: Readonly<Record<string, number>>;
  /** By verb, kind and answer: `list services allowed`. */
  readonly requests: Readonly<Record<string, number>>;
}

type PlainOrder = 'compact' | 'bookmark' | 'end-watches' | 'reset-watches' | 'freeze' | 'stop' | 'start';

/** For `beforeAll`: the double as a file that node runs. */
export const bundleDouble = (): Promise<URL> => bundleWithCertificates('test/api-server/main.ts');

/** A module as a file that node runs, with the certificates of the tests beside it. */
export async function bundleWithCertificates(module: string): Promise<URL> {
  const entry = await bundleThread(module);
  await symlink(dirname(tlsFixturePath('server.crt')), fileURLToPath(new URL('tls', entry)));
  return entry;
}

export class DoubleProcess {
  readonly url: string;
  readonly #control: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, { url, control }: { url: string; control: string }) {
    this.#child = child;
    this.url = url;
    this.#control = control;
  }

  /** @param entry from `bundleDouble`; for flags see `main.ts` of the double */
  static async start(entry: URL, ...flags: readonly string[]): Promise<DoubleProcess> {
    const child = spawn(process.execPath, [fileURLToPath(entry), ...flags], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the API server double has not started: exit code ${code}`);
    });
    const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
    ended.catch(() => {});
    return new DoubleProcess(child, JSON.parse(line));
  }

  async put(...objects: readonly KubernetesObject[]): Promise<void> {
    await this.#order('POST', '/objects', objects);
  }

  /** Whether there was such an object. */
  async remove(kind: string, name: string, namespace?: string): Promise<boolean> {
    const path = namespace === undefined ? name : `${namespace}/${name}`;
    return (await this.#order('DELETE', `/objects/${kind}/${path}`)) === true;
  }

  async generate(size: { services: number; endpointsPerService: number; namespaces: number }): Promise<void> {
    await this.#order('POST', '/generate', size);
  }

  async fail(rule: FaultRule): Promise<void> {
    await this.#order('POST', '/faults', rule);
  }

  async allow(access: Access): Promise<void> {
    await this.#order('POST', '/access', access);
  }

  /** Back with these objects alone, and no history. */
  async restart(...objects: readonly KubernetesObject[]): Promise<void> {
    await this.#order('POST', '/restart', objects);
  }

  async order(order: PlainOrder): Promise<void> {
    await this.#order('POST', `/${order}`);
  }

  async state(): Promise<DoubleState> {
    return (await this.#order('GET', '/state')) as DoubleState; // As `control.ts` describes it.
  }

  async end(): Promise<void> {
    const exit = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await exit;
  }

  async #order(method: string, path: string, body?: unknown): Promise<unknown> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(this.#control + path, { method, ...sent });
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`);
    return answer.json();
  }
}

export type Credentials = { readonly token: string } | { readonly tokenFile: string };

/** A kubeconfig for a double that was started with `--tls`. @returns its path */
export function writeKubeconfig(
  folder: TemporaryFolder,
  server: string,
  credentials: Credentials,
): Promise<string> {
  const authority = tlsFixturePath('authority.crt');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'double', user: 'portolan' } }],
    clusters: [{ name: 'double', cluster: { server, 'certificate-authority': authority } }],
    users: [{ name: 'portolan', user: credentials }],
  };
  return folder.write('kubeconfig', JSON.stringify(config));
}
