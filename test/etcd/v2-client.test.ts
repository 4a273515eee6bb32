/**
 * The client of etcd's API version 2, against the real program.
 */
import type { EtcdError } from '@portolan/etcd/source/client/etcd-error.ts';
import type { EtcdSettings } from '@portolan/etcd/source/client/settings.ts';
import { EtcdV2Client } from '@portolan/etcd/v2/client.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { expect, it, onTestFinished } from 'vitest';
import { describeWithTool } from '../support/tools.ts';
import { startEtcd } from './etcd-server.ts';

function connect(settings: EtcdSettings): EtcdV2Client {
  const client = new EtcdV2Client(settings, systemClock);
  onTestFinished(() => client.close());
  return client;
}

async function catchFailure(call: Promise<unknown>): Promise<string> {
  return await call.then(
    () => 'none',
    (error: EtcdError) => error.failure,
  );
}

describeWithTool(['etcd', 'etcdctl'], 'the client of the API version 2 of etcd', () => {
  it('reads a folder with all that is below it', async () => {
    const client = connect((await startEtcd({ v2: true })).settings);
    expect((await client.read('/skydns')).nodes).toEqual([]);
    await client.set('/skydns/local/a/1', '{"host":"10.0.0.1"}');
    await client.set('/skydns/local/ü b/%', 'text');
    await client.set('/skydns/local/t', 'ends', { ttl: 500 });
    const { index, nodes } = await client.read('/skydns');
    const sorted = [...nodes].sort((one, other) => (one.key < other.key ? -1 : 1));
    expect(sorted.map(({ key, value }) => [key, value])).toEqual([
      ['/skydns/local/a/1', '{"host":"10.0.0.1"}'],
      ['/skydns/local/t', 'ends'],
      ['/skydns/local/ü b/%', 'text'],
    ]);
    expect(sorted[0]?.ttl).toBe(0);
    expect(sorted[1]?.ttl).toBeGreaterThan(490);
    expect(index).toBe(sorted[1]?.modifiedIndex);
  });

  it('writes and removes only where the condition holds', async () => {
    const client = connect((await startEtcd({ v2: true })).settings);
    expect(await client.set('/skydns/a', '1', { exists: true })).toBe(false);
    expect(await client.set('/skydns/a', '1', { exists: false })).toBe(true);
    expect(await client.set('/skydns/a', '2', { exists: false })).toBe(false);
    const modifiedIndex = (await client.read('/skydns')).nodes[0]?.modifiedIndex ?? 0;
    expect(await client.set('/skydns/a', '2', { modifiedIndex: modifiedIndex + 1 })).toBe(false);
    expect(await client.set('/skydns/a', '2', { modifiedIndex })).toBe(true);
    expect(await client.remove('/skydns/a', { modifiedIndex })).toBe(false);
    expect(await client.set('/skydns/a', '3', { value: '1' })).toBe(false);
    expect(await client.set('/skydns/a', '3', { value: '2', ttl: 600 })).toBe(true);
    expect(await client.remove('/skydns/a', { value: '2' })).toBe(false);
    expect(await client.remove('/skydns/a', { value: '3' })).toBe(true);
    expect(await client.remove('/skydns/a')).toBe(false);
  });

  it('waits for changes one after the other, refreshed keys left out', async () => {
    const client = connect((await startEtcd({ v2: true })).settings);
    await client.set('/skydns/a/b', '1', { ttl: 600 });
    const { index } = await client.read('/skydns');
    expect(await client.set('/skydns/a/b', '', { ttl: 600, isRefresh: true })).toBe(true);
    await client.set('/skydns/a/c', '2');
    const first = await client.waitForChange('/skydns', index + 1);
    expect(first).toMatchObject({ kind: 'set', node: { key: '/skydns/a/c', value: '2', ttl: 0 } });
    const waiting = client.waitForChange('/skydns', (first.kind === 'none' ? 0 : first.index) + 1);
    await client.remove('/skydns/a/b');
    expect(await waiting).toMatchObject({ kind: 'removed', key: '/skydns/a/b', isFolder: false });
  });

  it('tells the end of a key by its time', async () => {
    const client = connect((await startEtcd({ v2: true })).settings);
    await client.set('/skydns/a', '1', { ttl: 1 });
    const { index } = await client.read('/skydns');
    const event = await client.waitForChange('/skydns', index + 1);
    expect(event).toMatchObject({ kind: 'removed', key: '/skydns/a' });
  });

  it('says that changes are not kept any more', async () => {
    const client = connect((await startEtcd({ v2: true })).settings);
    for (let count = 0; count < 1_100; count += 1) await client.set('/skydns/a', String(count));
    expect(await catchFailure(client.waitForChange('/skydns', 2))).toBe('compacted');
  });

  it('says that the version is off, or that etcd is away', async () => {
    const etcd = await startEtcd();
    const client = connect(etcd.settings);
    await expect(client.read('/skydns')).rejects.toThrow('--enable-v2');
    await etcd.first.kill();
    expect(await catchFailure(client.read('/skydns'))).toBe('unavailable');
  });

  it('authenticates with each call', async () => {
    const etcd = await startEtcd({ v2: true });
    const control = (...args: readonly string[]) => etcd.controlWith({ ETCDCTL_API: '2' }, ...args);
    await control('user', 'add', 'root:pass:word');
    await control('auth', 'enable');
    await control('--username', 'root:pass:word', 'role', 'revoke', 'guest', '--path', '/*', '--readwrite');
    const as = (password: string) =>
      connect({ ...etcd.settings, credentials: { username: 'root', password } }).set('/skydns/a', '1');
    expect(await as('pass:word')).toBe(true);
    expect(await catchFailure(as('wrong'))).toBe('unauthenticated');
    expect(await catchFailure(connect(etcd.settings).read('/skydns'))).toBe('unauthenticated');
  });

  it('connects by TLS with a certificate', async () => {
    const { settings } = await startEtcd({ tls: true, v2: true });
    expect(await connect(settings).set('/skydns/a', '1')).toBe(true);
    const { endpoints } = settings;
    expect(await catchFailure(connect({ endpoints }).read('/skydns'))).toBe('unavailable');
  });
});
