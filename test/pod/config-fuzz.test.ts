/**
 * With any contents of the ConfigMap, the server keeps answering, the last valid settings stay in use, and the next valid ones are
 * applied. The whole server runs in this process.
 */
import { join } from 'node:path';
import type { ServeFlags } from '@portolan/frontends/serve/settings/serve-flags.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { type InProcessServer, serveInProcess } from '../faults/in-process-server.ts';
import { bundleServerThreads } from '../support/bundle-thread.ts';
import { arbitraryFiles, arbitraryTexts } from './arbitrary-config-map.ts';
import { ConfigMapVolume, changeConfigMap } from './config-map.ts';
import { readGoldenCluster, startTestUpstreams, type TestUpstreams } from './pod.ts';

const TAKEN = 'ConfigMap applied';
const REFUSED = /^configuration rejected/;

let readerEntry: URL;
beforeAll(async () => {
  readerEntry = await bundleServerThreads();
});

/** A ConfigMap, and how it gets to the server. */
type Write<Value> = (data: Readonly<Record<string, Value | string>>) => Promise<void> | void;

const NO_OTHER_PORTS = { sidecarPort: 'none', prometheusPort: 'none' };

class FuzzedServer<Value> {
  readonly #server: InProcessServer;
  readonly #outside: TestUpstreams;
  readonly #write: Write<Value>;
  /** What a name of the stub domain must be answered with. */
  #expected: string | undefined;
  #turn = 0;

  constructor(server: InProcessServer, outside: TestUpstreams, write: Write<Value>) {
    this.#server = server;
    this.#outside = outside;
    this.#write = write;
  }

  /** Puts anything into the ConfigMap, and then something good. */
  async endure(data: Readonly<Record<string, Value>>): Promise<void> {
    const verdict = await this.#change(data);
    expect(await this.#ask('kubernetes.default.svc.cluster.local')).toBe('10.96.0.1');
    if (verdict === 'refused' && this.#expected !== undefined)
      expect(await this.#ask('www.acme.test')).toBe(this.#expected);
    await this.recover();
  }

  async recover(): Promise<void> {
    this.#turn += 1;
    const { first, second } = this.#outside;
    const [server, address] = this.#turn % 2 === 0 ? [first, '192.0.2.1'] : [second, '192.0.2.2'];
    const good = { stubDomains: JSON.stringify({ 'acme.test': [server.address] }) };
    expect(await this.#change(good)).toBe('taken');
    expect(await this.#ask('www.acme.test')).toBe(address);
    this.#expected = address;
  }

  /** @returns what became of it, once it is read */
  async #change(data: Readonly<Record<string, Value | string>>): Promise<'taken' | 'refused'> {
    const { records } = this.#server.log;
    const before = records.length;
    await this.#write(data);
    const find = () =>
      records.slice(before).find(({ message }) => message === TAKEN || REFUSED.test(message))?.message;
    await expect.poll(find, { timeout: 10_000, interval: 5 }).toBeDefined();
    return find() === TAKEN ? 'taken' : 'refused';
  }

  #ask(name: string): Promise<string> {
    return askShort(this.#server, name, 'A');
  }
}

async function start<Value>(
  flags: ServeFlags,
  write: (apiServer: ApiServerDouble) => Write<Value>,
): Promise<FuzzedServer<Value>> {
  const apiServer = await ApiServerDouble.start({ objects: readGoldenCluster() });
  onTestFinished(() => apiServer.stop());
  const outside = await startTestUpstreams(onTestFinished);
  const own = { kubeMasterUrl: apiServer.url, ...NO_OTHER_PORTS, ...flags };
  const server = await serveInProcess(own, { readerEntry });
  const fuzzed = new FuzzedServer(server, outside, write(apiServer));
  await fuzzed.recover();
  return fuzzed;
}

describe('anything in the ConfigMap', () => {
  it('of the API server', { timeout: 90_000 }, async () => {
    const server = await start<string>(
      { configMap: 'kube-dns' },
      (apiServer) => (data) => changeConfigMap(apiServer, data),
    );
    await fc.assert(
      fc.asyncProperty(arbitraryTexts, (data) => server.endure(data)),
      { numRuns: 50 },
    );
  });

  it('of a volume', { timeout: 90_000 }, async () => {
    const folder = await makeTemporaryFolder();
    const volume = new ConfigMapVolume(join(folder.path, 'config'));
    await volume.write({});
    const server = await start<string | Uint8Array>(
      { configDir: volume.path },
      () => (data) => volume.write(data),
    );
    await fc.assert(
      fc.asyncProperty(arbitraryFiles, (data) => server.endure(data)),
      { numRuns: 12 },
    );
  });
});
