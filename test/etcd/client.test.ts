/**
 * The client of etcd's API version 3, against the real program.
 */
import { EtcdClient } from '@portolan/etcd/source/client/etcd-client.ts';
import type { EtcdError } from '@portolan/etcd/source/client/etcd-error.ts';
import { endOfPrefix, type KeyEvent, type WatchReply } from '@portolan/etcd/source/client/messages.ts';
import type { EtcdSettings } from '@portolan/etcd/source/client/settings.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { expect, it, onTestFinished } from 'vitest';
import { describeWithTool } from '../support/tools.ts';
import { startEtcd, USER } from './etcd-server.ts';

function connect(settings: EtcdSettings): EtcdClient {
  const client = new EtcdClient(settings, systemClock);
  onTestFinished(() => client.close());
  return client;
}

const PREFIX = Buffer.from('/skydns/');
const WHOLE = { key: PREFIX, end: endOfPrefix(PREFIX) };

async function put(client: EtcdClient, key: string, value: string, lease?: bigint): Promise<number> {
  const operation = { kind: 'put', key: Buffer.from(key), value: Buffer.from(value) } as const;
  const operations = [{ ...operation, ...(lease !== undefined && { lease }) }];
  return (await client.transact({ conditions: [], operations })).revision;
}

const remove = (client: EtcdClient, key: string) =>
  client.transact({ conditions: [], operations: [{ kind: 'delete', key: Buffer.from(key) }] });

/** A watch from a revision on, with what it has told so far. */
function follow(client: EtcdClient, revision: number) {
  const told = {
    events: [] as KeyEvent[],
    replies: [] as WatchReply[],
    error: undefined as EtcdError | undefined,
  };
  const handlers = {
    replied: (reply: WatchReply) => {
      told.replies.push(reply);
      told.events.push(...reply.events);
    },
    failed: (error: EtcdError) => {
      told.error = error;
    },
  };
  const watch = client.watch({ ...WHOLE, revision }, handlers);
  onTestFinished(() => watch.cancel());
  return told;
}

const describeEvent = ({ kind, keyValue }: KeyEvent) => `${kind} ${keyValue.key} ${keyValue.value}`;

async function catchFailure(call: Promise<unknown>): Promise<string> {
  return await call.then(
    () => 'none',
    (error: EtcdError) => error.failure,
  );
}

describeWithTool(['etcd', 'etcdctl'], 'the client of etcd', () => {
  it('reads a range in pages of one revision, whatever octets keys and values have', async () => {
    const client = connect((await startEtcd()).settings);
    for (let index = 0; index < 7; index += 1) await put(client, `/skydns/k${index}`, `v${index}\u0000ü`);
    await put(client, '/other/k', 'v');
    const first = await client.range({ ...WHOLE, limit: 3 });
    expect(first.keyValues.map(({ key }) => String(key))).toEqual(['/skydns/k0', '/skydns/k1', '/skydns/k2']);
    expect(first.more).toBe(true);
    await put(client, '/skydns/k5', 'changed');
    const key = Buffer.from('/skydns/k2\0');
    const second = await client.range({ key, end: WHOLE.end, revision: first.revision });
    expect(second.keyValues.map(({ value }) => String(value))).toEqual(['v3\0ü', 'v4\0ü', 'v5\0ü', 'v6\0ü']);
    expect(second.more).toBe(false);
    expect(second.cluster).toBe(first.cluster);
    expect((await client.range({ ...WHOLE, keysOnly: true, limit: 1 })).keyValues[0]?.value).toHaveLength(0);
  });

  it('writes only where the conditions of a transaction hold', async () => {
    const client = connect((await startEtcd()).settings);
    const key = Buffer.from('/skydns/a');
    const create = (value: string) =>
      client.transact({
        conditions: [{ key, target: 'create-revision', revision: 0 }],
        operations: [{ kind: 'put', key, value: Buffer.from(value) }],
      });
    const { succeeded, revision } = await create('one');
    expect(succeeded).toBe(true);
    expect((await create('two')).succeeded).toBe(false);
    const change = await client.transact({
      conditions: [{ key, target: 'mod-revision', revision }],
      operations: [{ kind: 'put', key, value: Buffer.from('three') }],
    });
    expect(change.succeeded).toBe(true);
    expect(String((await client.range({ key })).keyValues[0]?.value)).toBe('three');
  });

  it('watches from a revision on, past keys and their ends', async () => {
    const client = connect((await startEtcd()).settings);
    const revision = await put(client, '/skydns/a', '1');
    await put(client, '/skydns/b', '2');
    const told = follow(client, revision + 1);
    await waitUntil('the watch tells what was', () => told.events.length === 1);
    await put(client, '/skydns/a', '3');
    await remove(client, '/skydns/b');
    await put(client, '/other', '4');
    await put(client, '/skydns/c', '5');
    await waitUntil('the watch tells what is', () => told.events.length === 4);
    expect(told.events.map(describeEvent)).toEqual([
      'put /skydns/b 2',
      'put /skydns/a 3',
      'delete /skydns/b ',
      'put /skydns/c 5',
    ]);
    expect(told.replies.at(-1)?.revision).toBe(revision + 5);
  });

  it('says that a revision is compacted', async () => {
    const etcd = await startEtcd();
    const client = connect(etcd.settings);
    const revision = await put(client, '/skydns/a', '1');
    const last = await put(client, '/skydns/a', '2');
    await etcd.control('compact', String(last));
    expect(await catchFailure(client.range({ ...WHOLE, revision }))).toBe('compacted');
    const told = follow(client, revision);
    await waitUntil('the watch ends', () => told.error !== undefined);
    expect(told.error?.failure).toBe('compacted');
  });

  it('grants, renews and asks for leases, whose end removes their keys', async () => {
    const client = connect((await startEtcd()).settings);
    const { id, seconds } = await client.grantLease(600);
    expect(seconds).toBe(600);
    const revision = await put(client, '/skydns/a', '1', id);
    expect((await client.range(WHOLE)).keyValues[0]?.lease).toBe(id);
    expect(await client.leaseSeconds(id)).toBeGreaterThan(590);
    expect(await client.renewLease(id)).toBe(600);
    const told = follow(client, revision + 1);
    await client.revokeLease(id);
    await waitUntil('the key is gone', () => told.events.length === 1);
    expect(told.events.map(describeEvent)).toEqual(['delete /skydns/a ']);
    expect(await client.leaseSeconds(id)).toBe(0);
    expect(await client.renewLease(id)).toBe(0);
  });

  it('connects by TLS with a certificate, and authenticates', async () => {
    const etcd = await startEtcd({ tls: true });
    await etcd.enableAuth();
    const { endpoints } = etcd.settings;
    const client = connect({ ...etcd.settings, credentials: USER });
    expect(await put(client, '/skydns/a', '1')).toBeGreaterThan(0);
    const told = follow(client, 1);
    await waitUntil('the watch tells the key', () => told.events.length === 1);
    expect(await catchFailure(put(client, '/other', '1'))).toBe('denied');
    // Without a user, the name in the certificate is one, which may do nothing.
    expect(await catchFailure(connect(etcd.settings).range(WHOLE))).toBe('denied');
    const wrong = connect({ ...etcd.settings, credentials: { ...USER, password: 'wrong' } });
    expect(await catchFailure(wrong.range(WHOLE))).toBe('unauthenticated');
    expect(await catchFailure(connect({ endpoints }).range(WHOLE))).toBe('unavailable');
  });

  it('authenticates again when its token has ended', async () => {
    const etcd = await startEtcd({ flags: ['--auth-token-ttl', '1'] });
    await etcd.enableAuth();
    const client = connect({ ...etcd.settings, credentials: USER });
    await put(client, '/skydns/a', '1');
    // A restart forgets all tokens.
    await etcd.first.kill();
    await etcd.first.start();
    await client.range(WHOLE).catch(() => {});
    expect((await client.range(WHOLE)).keyValues).toHaveLength(1);
  });

  it('takes credentials where etcd asks for none', async () => {
    const { settings } = await startEtcd();
    const client = connect({ ...settings, credentials: USER });
    expect(await put(client, '/skydns/a', '1')).toBeGreaterThan(0);
  });

  it('goes to the next member when one is away', async () => {
    const etcd = await startEtcd({ members: 3 });
    const client = connect(etcd.settings);
    await put(client, '/skydns/a', '1');
    const used = etcd.members.find(({ url }) => url === client.endpoint);
    const told = follow(client, 1);
    await waitUntil('the watch tells the key', () => told.events.length === 1);
    await used?.kill();
    await waitUntil('the watch ends', () => told.error !== undefined);
    expect(told.error?.failure).toBe('unavailable');
    // The others may have to elect a leader first.
    while ((await catchFailure(client.range(WHOLE))) !== 'none') expect(used).toBeDefined();
    expect(client.endpoint).not.toBe(used?.url);
  });
});
