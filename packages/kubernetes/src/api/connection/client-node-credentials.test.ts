import { systemClock } from '@portolan/kernel/base/clock.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { NOISE, putInPath } from '@portolan/kernel/base/testing/path-programs.ts';
import { describe, expect, test } from 'vitest';
import { loadClientNode, makeClientNodeCredentials } from './client-node-credentials.ts';
import { KubeconfigEntry } from './kubeconfig-file.ts';

interface Options {
  readonly users: readonly {
    readonly exec: { readonly command: string; readonly env: readonly unknown[] };
  }[];
}

/** Replaces the class of @kubernetes/client-node. */
function makeModule(apply: (options: Record<string, unknown>) => Promise<void>, loaded: Options[] = []) {
  return async () => ({
    KubeConfig: class {
      loadFromOptions(options: Options): void {
        loaded.push(options);
      }

      applyToHTTPSOptions(options: Record<string, unknown>): Promise<void> {
        return apply(options);
      }
    },
  });
}

const entry = (exec: object) =>
  new KubeconfigEntry('/home/me/.kube/config', 'u', 'users["u"].user', { exec });
const user = entry({ apiVersion: 'client.authentication.k8s.io/v1', command: './bin/plugin', args: ['get'] });

describe('credentials from client-node', () => {
  test('headers and certificate are taken over', async () => {
    const load = makeModule(async (options) => {
      Object.assign(options, { headers: { Authorization: 'Bearer t' }, cert: 'C', key: 'K' });
    });
    const credentials = await makeClientNodeCredentials(user, systemClock, load);
    expect(await credentials.authenticate()).toEqual({
      headers: { authorization: 'Bearer t' },
      certificate: { certificate: Buffer.from('C'), key: Buffer.from('K') },
    });
  });

  test('a command counts from the folder of its file, and is told that it cannot ask the user', async () => {
    const loaded: Options[] = [];
    await makeClientNodeCredentials(
      user,
      systemClock,
      makeModule(async () => {}, loaded),
    );
    const exec = loaded[0]?.users[0]?.exec;
    expect(exec?.command).toBe('/home/me/.kube/bin/plugin');
    expect(JSON.stringify(exec?.env)).toContain('KUBERNETES_EXEC_INFO');
  });

  test('requests that come together run the command once; after a refusal it has nothing cached', async () => {
    let runs = 0;
    const loaded: Options[] = [];
    const load = makeModule(async () => {
      runs += 1;
    }, loaded);
    const credentials = await makeClientNodeCredentials(user, systemClock, load);
    await Promise.all([credentials.authenticate(), credentials.authenticate()]);
    expect(runs).toBe(1);
    credentials.expire();
    await credentials.authenticate();
    expect([runs, loaded.length]).toEqual([2, 2]);
  });

  test('what a failing command wrote is not repeated', async () => {
    const load = makeModule(() => Promise.reject(new Error('token: a-secret')));
    const credentials = await makeClientNodeCredentials(user, systemClock, load);
    const error = await credentials.authenticate().catch((reason: unknown) => String(reason));
    expect(error).toMatch(/the command of u gave no credentials; run it by hand/);
    expect(error).not.toContain('a-secret');
  });

  test('a command that never ends is given up, and not started once more', async () => {
    const clock = new ManualClock();
    let runs = 0;
    const load = makeModule(() => {
      runs += 1;
      return new Promise(() => {});
    });
    const credentials = await makeClientNodeCredentials(user, clock, load);
    for (const _attempt of [1, 2]) {
      const failed = expect(credentials.authenticate()).rejects.toThrow('gave no credentials');
      clock.advance(60_000);
      await failed;
    }
    expect(runs).toBe(1);
  });

  test('a command is judged by its exit and its output, not by its warnings', async () => {
    const token = JSON.stringify({ apiVersion: 'v1', kind: 'ExecCredential', status: { token: 't' } });
    const of = async (script: string) => {
      const command = `${await putInPath({ plugin: script })}/plugin`;
      const config = entry({ apiVersion: 'client.authentication.k8s.io/v1', command });
      return await (await makeClientNodeCredentials(config, systemClock, loadClientNode)).authenticate();
    };
    expect((await of(`${NOISE}echo '${token}'`)).headers).toEqual({ authorization: 'Bearer t' });
    await expect(of(`echo '${token}'; exit 1`)).rejects.toThrow('gave no credentials');
  });

  test('without the package the error says what to do, and where', async () => {
    const load = () => Promise.reject(new Error('Cannot find package'));
    await expect(makeClientNodeCredentials(user, systemClock, load)).rejects.toThrow(
      /^cannot use kubeconfig: \/home\/me\/\.kube\/config: users\["u"\]\.user\.exec needs @kubernetes\/client-node.*npm install @kubernetes\/client-node@1/,
    );
  });
});
