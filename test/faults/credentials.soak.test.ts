/**
 * Tokens that change while the server runs, are wrong, or give too few permissions: in a pod, and with a kubeconfig.
 */
import { readFileSync } from 'node:fs';
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTemporaryFolder, type TemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { type AccessRule, kubeDnsRules } from '../api-server/access.ts';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';
import { namespace, service } from '../list-watch/harness.ts';
import { writeKubeconfig } from '../support/double-process.ts';
import { endAllPrograms, look, type Serving, servePortolan } from '../support/portolan.ts';
import { describeWhere } from '../support/tools.ts';
import { mayMount, withServiceAccount } from './private-mounts.ts';

afterEach(endAllPrograms);

const ALL: readonly AccessRule[] = [
  ...kubeDnsRules,
  { groups: [''], resources: ['namespaces'], verbs: ['list', 'watch'] },
  { groups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
];

/** A folder as the kubelet keeps it: files are links into another folder, which is replaced by one link. */
class ServiceAccount {
  readonly #folder: TemporaryFolder;
  #writes = 0;

  constructor(folder: TemporaryFolder) {
    this.#folder = folder;
  }

  get path(): string {
    return this.#folder.path;
  }

  get tokenFile(): string {
    return join(this.path, 'token');
  }

  async write(token: string): Promise<void> {
    this.#writes += 1;
    const inner = `..data-${this.#writes}`;
    await mkdir(join(this.path, inner));
    await writeFile(join(this.path, inner, 'token'), token);
    await writeFile(join(this.path, inner, 'ca.crt'), readFileSync(tlsFixturePath('authority.crt')));
    await symlink(inner, join(this.path, '..next'));
    await rename(join(this.path, '..next'), join(this.path, '..data'));
    if (this.#writes > 1) return;
    for (const file of ['token', 'ca.crt']) await symlink(join('..data', file), join(this.path, file));
  }
}

const a = (server: DnsServer, name: string) => askShort(server, `${name}.default.svc.cluster.local`, 'A');

async function startApiServer(token: string, rules: readonly AccessRule[] = ALL): Promise<ApiServerDouble> {
  const access = { tokens: { [token]: 'portolan' }, rules: { portolan: rules } };
  const objects = [namespace('default'), service('web', '10.96.0.10')];
  const double = await ApiServerDouble.start({ tls: 'server', access, objects });
  onTestFinished(() => double.stop());
  return double;
}

type Serve = (double: ApiServerDouble, account: ServiceAccount) => Promise<Serving>;

const serveInPod: Serve = (double, account) => {
  const environment = {
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: String(double.port),
  };
  return servePortolan([], { environment, through: withServiceAccount(account.path) });
};
const serveWithKubeconfig: Serve = async (double, { tokenFile }) => {
  const file = await writeKubeconfig(await makeTemporaryFolder(), double.url, { tokenFile });
  return servePortolan(['--kubecfg-file', file]);
};

async function expectReadiness(serving: Serving, status: number, text: RegExp): Promise<void> {
  await expect
    .poll(() => look(serving, '/readyz'))
    .toMatchObject({
      status,
      text: expect.stringMatching(text),
    });
}

const ways = [
  { way: 'a kubeconfig', serve: serveWithKubeconfig, isPossible: true },
  { way: 'a pod', serve: serveInPod, isPossible: mayMount },
];

for (const { way, serve, isPossible } of ways)
  describeWhere(isPossible, 'unshare -m', `with the token of ${way}`, () => {
    async function open(token: string): Promise<ServiceAccount> {
      const account = new ServiceAccount(await makeTemporaryFolder());
      await account.write(token);
      return account;
    }

    it('a rotated token is used as soon as the old one is refused', async () => {
      const account = await open('token-before');
      const double = await startApiServer('token-before');
      const serving = await serve(double, account);
      await serving.program.heard('cluster listed');
      await account.write('token-after');
      double.access = { ...double.access, tokens: { 'token-after': 'portolan' } };
      double.endWatches();
      double.put(service('new', '10.96.0.11'));
      await expect.poll(() => a(serving, 'new')).toBe('10.96.0.11');
      const refusals = double.requests.filter(({ status }) => status === 401);
      expect(refusals.length).toBeGreaterThan(0);
      expect(refusals.length).toBeLessThanOrEqual(6);
      expect(await look(serving, '/readyz')).toEqual({ status: 200, text: 'ok\n' });
      expect(serving.program.errors).not.toMatch(/token-before|token-after/);
    });

    it('a wrong token is told as that, and a right one used when it is there', async () => {
      const account = await open('wrong');
      const double = await startApiServer('right');
      const serving = await serve(double, account);
      await expectReadiness(serving, 503, /services: not authenticated: 401 Unauthorized/);
      expect(await a(serving, 'web')).toBe('SERVFAIL');
      expect((await look(serving, '/healthz')).status).toBe(200);
      await account.write('right');
      await expectReadiness(serving, 200, /ok/);
      expect(await a(serving, 'web')).toBe('10.96.0.10');
    });

    it('rights that lack are told in the words of the server, and used when they are given', async () => {
      const account = await open('good');
      const double = await startApiServer('good', kubeDnsRules);
      const serving = await serve(double, account);
      await expectReadiness(
        serving,
        503,
        /namespaces: forbidden: 403 namespaces is forbidden: User "portolan" cannot (list|watch) resource/,
      );
      expect(await a(serving, 'none')).toBe('SERVFAIL');
      double.access = { ...double.access, rules: { portolan: ALL } };
      await expectReadiness(serving, 200, /ok/);
      expect(await a(serving, 'none')).toBe('NXDOMAIN');
    });
  });
