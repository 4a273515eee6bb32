/**
 * Finds the cluster and sends requests to it, with the API server double.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { ClusterConfigurationError } from '@portolan/kubernetes/api/connection/errors.ts';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { ApiServerDouble } from '../api-server/api-server.ts';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';
import { ask, authority, connect, find, kubeconfig, startServer, tokens } from './harness.ts';

describe('kubeconfig', () => {
  test.each([
    ['a token', () => ({ token: 'a-secret' })],
    [
      'a client certificate in the file',
      () => ({
        'client-certificate-data': readFileSync(tlsFixturePath('client.crt')).toString('base64'),
        'client-key-data': readFileSync(tlsFixturePath('client.key')).toString('base64'),
      }),
    ],
    [
      'a client certificate beside it',
      () => ({
        'client-certificate': tlsFixturePath('client.crt'),
        'client-key': tlsFixturePath('client.key'),
      }),
    ],
  ])('authenticates by %s', async (_what, user) => {
    const server = await startServer({ access: tokens });
    const folder = await makeTemporaryFolder();
    const file = await folder.write('config', kubeconfig({ server: server.url, user: user() }));
    const connection = await connect({ kubecfgFile: file });
    expect(await ask(connection)).toBe(200);
    expect(connection.server).toBe(server.url);
    expect(connection.source).toBe(`kubeconfig ${file}, context here`);
    expect(server.requests.at(-1)?.user).toMatch(/^portolan/);
  });

  test('reads JSON', async () => {
    const server = await startServer({ access: tokens });
    const folder = await makeTemporaryFolder();
    const yaml = kubeconfig({ server: server.url, user: { token: 'a-secret' } });
    const file = await folder.write('config', JSON.stringify(parse(yaml)));
    expect(await ask(await connect({ kubecfgFile: file }))).toBe(200);
  });

  test('sends basic authentication and impersonation as kubectl does', async () => {
    const server = await startServer();
    const folder = await makeTemporaryFolder();
    const user = {
      username: 'me',
      password: 'p',
      as: 'you',
      'as-groups': ['a', 'b'],
      'as-user-extra': { Key: ['v'] },
    };
    const file = await folder.write('config', kubeconfig({ server: server.url, user }));
    await ask(await connect({ kubecfgFile: file }));
    const headers = server.requests.at(-1)?.headers;
    expect(headers).toMatchObject({
      authorization: `Basic ${Buffer.from('me:p').toString('base64')}`,
      'impersonate-user': 'you',
      'impersonate-group': 'a, b',
      'impersonate-extra-key': 'v',
    });
    expect(server.requests.at(-1)?.rawHeaders.filter((name) => name === 'impersonate-group')).toHaveLength(2);
  });

  test('reads a tokenFile, relative to its own folder, again when refused and once a minute', async () => {
    const server = await startServer({ access: { tokens: { one: 'a', two: 'b', three: 'c' } } });
    const folder = await makeTemporaryFolder();
    await folder.write('sub/token', 'one\n');
    const file = await folder.write(
      'sub/config',
      kubeconfig({ server: server.url, user: { tokenFile: 'token' } }),
    );
    const clock = new ManualClock();
    const connection = await connect({ kubecfgFile: file, clock });
    const requestUser = async () => {
      await ask(connection);
      return server.requests.at(-1)?.user;
    };
    expect(await requestUser()).toBe('a');
    await folder.write('sub/token', 'two');
    expect(await requestUser()).toBe('a');
    clock.advance(60_000);
    expect(await requestUser()).toBe('b');
    await folder.write('sub/token', 'three');
    connection.refreshCredentials();
    expect(await requestUser()).toBe('c');
  });

  test('several files merge: the first to name a thing wins, those that are not there are passed over', async () => {
    const server = await startServer({ access: tokens });
    const folder = await makeTemporaryFolder();
    const first = await folder.write(
      'first',
      JSON.stringify({ users: [{ name: 'u', user: { token: 'a-secret' } }] }),
    );
    const second = await folder.write('second', kubeconfig({ server: server.url, user: { token: 'wrong' } }));
    const KUBECONFIG = `${first}::${join(folder.path, 'absent')}:${second}`;
    const connection = await connect({ environment: { KUBECONFIG } });
    expect(await ask(connection)).toBe(200);
    expect(connection.source).toBe(`kubeconfig ${first}:${second}, context here`);
  });

  test('is taken from the home folder, and a context by its name', async () => {
    const server = await startServer();
    const folder = await makeTemporaryFolder();
    const file = await folder.write('.kube/config', kubeconfig({ server: server.url, context: 'other' }));
    const connection = await connect({ home: folder.path, context: 'other' });
    expect(await ask(connection)).toBe(200);
    await expect(connect({ home: folder.path, context: 'third' })).rejects.toThrow(
      `cannot use kubeconfig: ${file}: no such context: third; give one of: other`,
    );
    await folder.write('.kube/config', 'current-context: gone\n');
    await expect(connect({ home: folder.path })).rejects.toThrow(
      `cannot use kubeconfig: ${file}: no such context: gone; add it to contexts, of which the file has none`,
    );
    await folder.write('.kube/config', 'current-context: here\ncontexts: [{name: here, context: {}}]\n');
    await expect(connect({ home: folder.path })).rejects.toThrow(
      `cannot use kubeconfig: ${file}: the context names no cluster with a server; set clusters[].cluster.server`,
    );
  });

  test('--kube-master-url takes the place of its server', async () => {
    const server = await startServer({ access: tokens });
    const folder = await makeTemporaryFolder();
    const text = kubeconfig({
      server: 'https://gone.invalid:1',
      cluster: { 'tls-server-name': 'gone.invalid' },
      user: { token: 'a-secret' },
    });
    const file = await folder.write('config', text);
    const connection = await connect({ kubecfgFile: file, masterUrl: server.url });
    expect(await ask(connection)).toBe(200);
  });

  test('no credentials go over plain HTTP', async () => {
    const server = await startServer({ tls: 'none' });
    const folder = await makeTemporaryFolder();
    const file = await folder.write(
      'config',
      kubeconfig({ server: server.url, user: { token: 'a-secret' } }),
    );
    await ask(await connect({ kubecfgFile: file }));
    expect(server.requests.at(-1)?.headers.authorization).toBeUndefined();
  });

  test('the server is verified, unless told otherwise, under the name told', async () => {
    const server = await startServer();
    const folder = await makeTemporaryFolder();
    const named = async (name: string, cluster: Record<string, unknown>) => {
      const text = kubeconfig({ server: server.url, cluster });
      return connect({ kubecfgFile: await folder.write(name, text) });
    };
    const none = { 'certificate-authority-data': '' };
    await expect(ask(await named('a', none))).rejects.toThrow(/check certificate-authority/);
    expect(await ask(await named('b', { ...none, 'insecure-skip-tls-verify': true }))).toBe(200);
    expect(await ask(await named('c', { 'tls-server-name': 'kubernetes.default.svc' }))).toBe(200);
    await expect(ask(await named('d', { 'tls-server-name': 'another.name' }))).rejects.toThrow(
      /tls-server-name/,
    );
  });

  test.each([
    ['a list where text must be', { user: { token: ['x'] } }, 'users["u"].user.token must be text'],
    [
      'both a token and a name',
      { user: { token: 'x', username: 'y' } },
      'users["u"].user.username cannot stand beside a token',
    ],
    [
      'a certificate without its key',
      { user: { 'client-certificate-data': 'eA==' } },
      'client-key is missing',
    ],
    ['what is no base64', { user: { 'client-key-data': '%%%' } }, 'client-key-data must be base64'],
    [
      'an unusable server',
      { server: 'ftp://x' },
      'clusters["c"].cluster.server is not an http or https address',
    ],
    [
      'an unusable proxy',
      { cluster: { 'proxy-url': 'gopher://x' } },
      'clusters["c"].cluster.proxy-url is not',
    ],
    [
      'verification both on and off',
      { cluster: { 'insecure-skip-tls-verify': true } },
      'insecure-skip-tls-verify cannot stand beside',
    ],
  ])('%s is refused, with its place', async (_what, parts, message) => {
    const folder = await makeTemporaryFolder();
    const file = await folder.write('config', kubeconfig({ server: 'https://127.0.0.1:1', ...parts }));
    const error = await connect({ kubecfgFile: file }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ClusterConfigurationError);
    expect(error).toMatchObject({
      file,
      message: expect.stringContaining(`cannot use kubeconfig: ${file}: `),
    });
    expect(error).toMatchObject({ message: expect.stringContaining(message) });
  });

  test('what is no YAML is refused with its line, and without its text', async () => {
    const folder = await makeTemporaryFolder();
    const file = await folder.write('config', 'users:\n- name: u\n  user: {token: "a-secret\n');
    const error = await connect({ kubecfgFile: file }).catch((reason: unknown) => String(reason));
    expect(error).toMatch(/:\d+: not YAML/);
    expect(error).not.toContain('a-secret');
  });

  test('an alias that cannot be followed is refused, and without its text', async () => {
    const folder = await makeTemporaryFolder();
    const file = await folder.write('config', 'users:\n- name: u\n  user: {token: *a-secret}\n');
    const error = await connect({ kubecfgFile: file }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ClusterConfigurationError);
    expect(String(error)).toMatch(/an alias cannot be followed/);
    expect(String(error)).not.toContain('a-secret');
  });

  test('a named file that is not there is an error', async () => {
    await expect(connect({ kubecfgFile: '/no/such/file' })).rejects.toThrow(
      'cannot read kubeconfig: /no/such/file: no such file. Name one that exists, by the flag or in KUBECONFIG.',
    );
  });
});

describe('in the cluster', () => {
  async function startPod(server: ApiServerDouble) {
    const folder = await makeTemporaryFolder();
    await folder.write('token', 'a-secret');
    await folder.write('ca.crt', authority);
    const environment = {
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(server.port),
    };
    return { folder, options: { environment, serviceAccount: folder.path, home: folder.path } };
  }

  test('the service account is used, before any kubeconfig', async () => {
    const server = await startServer({ access: tokens });
    const { folder, options } = await startPod(server);
    await folder.write('.kube/config', kubeconfig({ server: 'https://127.0.0.1:1' }));
    const connection = await connect(options);
    expect(await ask(connection)).toBe(200);
    expect(connection.source).toBe('in-cluster');
    // Packing costs both sides more than the network of the nodes does.
    expect(server.requests.at(-1)?.headers['accept-encoding']).toBe('identity');
  });

  test('an authority that is rotated is read again', async () => {
    const server = await startServer();
    const { folder, options } = await startPod(server);
    await folder.write('ca.crt', readFileSync(tlsFixturePath('client.crt')));
    const connection = await connect(options);
    await expect(ask(connection)).rejects.toThrow(/certificate/);
    await folder.write('ca.crt', authority);
    connection.refreshCredentials();
    expect(await ask(connection)).toBe(200);
  });

  test('an explicit context goes past it', async () => {
    const server = await startServer();
    const { folder, options } = await startPod(server);
    await folder.write('.kube/config', kubeconfig({ server: server.url }));
    const connection = await connect({ ...options, context: 'here' });
    expect(connection.source).toContain('context here');
  });
});

describe('no cluster', () => {
  test('every place that was looked at is told', async () => {
    const folder = await makeTemporaryFolder();
    const found = await find({ home: folder.path, serviceAccount: folder.path });
    expect(found).toEqual({
      kind: 'none',
      lookedFor: [
        'in-cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set',
        'KUBECONFIG: not set',
        `~/.kube/config: no such file: ${folder.path}/.kube/config`,
      ],
    });
  });

  test('a pod without a token is told why', async () => {
    const environment = {
      KUBERNETES_SERVICE_HOST: 'fd00::1',
      KUBERNETES_SERVICE_PORT: '443',
      KUBECONFIG: '/no/file',
    };
    const found = await find({ environment, serviceAccount: '/no/such' });
    expect(found).toMatchObject({
      lookedFor: [
        'in-cluster: /no/such/token cannot be read; is automountServiceAccountToken off?',
        'KUBECONFIG: no such file: /no/file',
      ],
    });
  });

  test('--kube-master-url alone is enough, without a scheme too', async () => {
    const server = await startServer({ tls: 'none' });
    const connection = await connect({ masterUrl: `127.0.0.1:${server.port}` });
    expect(await ask(connection)).toBe(200);
    expect(connection.source).toBe('--kube-master-url');
    await expect(connect({ masterUrl: 'ftp://x' })).rejects.toThrow('cannot use --kube-master-url: ftp://x');
  });
});
