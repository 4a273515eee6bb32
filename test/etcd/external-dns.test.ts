/**
 * The keys that external-dns writes with `--provider=coredns`, and removes again: for each target a key with a random label below
 * the name, `targetstrip` for that label, and the ownership text of its registry, in the first of these keys or at another name.
 */
import { presentRecord } from '@portolan/dns/present.ts';
import { RCODE } from '@portolan/dns/types.ts';
import { EtcdClient } from '@portolan/etcd/source/client/etcd-client.ts';
import { endOfPrefix } from '@portolan/etcd/source/client/messages.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { addresses } from '@portolan/kernel/chain/testing/queries.ts';
import { expect, it, onTestFinished } from 'vitest';
import { describeWithTool } from '../support/tools.ts';
import { type EtcdCluster, startEtcd } from './etcd-server.ts';
import { follow } from './followed.ts';

const OWNER = '"heritage=external-dns,external-dns/owner=home,external-dns/resource=ingress/shop/web"';

/** Its writes: one key at a time, and removals by prefix. */
function externalDns(etcd: EtcdCluster) {
  const client = new EtcdClient(etcd.settings, systemClock);
  onTestFinished(() => client.close());
  const toEtcdKey = (name: string) => Buffer.from(`/skydns/${name.split('.').reverse().join('/')}`);
  const transact = async (operation: Parameters<EtcdClient['transact']>[0]['operations'][number]) => {
    await client.transact({ conditions: [], operations: [operation] });
  };
  return {
    save: async (name: string, record: object) => {
      const value = Buffer.from(JSON.stringify({ ...record, targetstrip: 1 }));
      await transact({ kind: 'put', key: toEtcdKey(name), value });
    },
    remove: async (name: string) => {
      const key = toEtcdKey(name);
      await transact({ kind: 'delete', key, end: endOfPrefix(key) });
    },
  };
}

describeWithTool('etcd', 'the records of external-dns', () => {
  it('are answered as soon as they are written, and gone when they are removed', async () => {
    const etcd = await startEtcd();
    const { save, remove } = externalDns(etcd);
    const lookUp = () => addresses('lb.example.net.', '198.51.100.7');
    const { ask, askTable, askHandler } = follow(etcd, { zone: 'home.example.', lookUp });
    const askRecords = (name: string, type: 'A' | 'AAAA' | 'SRV' | 'TXT') =>
      askTable(name, type)?.answers.map(presentRecord);

    await save('4a6f1c02.app.home.example', { host: '192.0.2.10', text: OWNER, ttl: 60 });
    await waitUntil('the address', () => ask('app.home.example.') === '192.0.2.10');
    expect(askRecords('app.home.example.', 'A')).toEqual(['app.home.example. 60 IN A 192.0.2.10']);
    expect(askRecords('app.home.example.', 'SRV')).toEqual([
      'app.home.example. 60 IN SRV 10 100 0 app.home.example.',
    ]);
    await save('0b1e77d9.app.home.example', { host: '2001:db8::10' });
    await waitUntil('the IPv6 address', () => askRecords('app.home.example.', 'AAAA')?.length === 1);
    expect(askRecords('app.home.example.', 'AAAA')).toEqual(['app.home.example. 300 IN AAAA 2001:db8::10']);
    expect(ask('app.home.example.')).toBe('192.0.2.10');
    // The ownership of a record, at a name that has the type in it.
    await save('5c9d2e11.a-app.home.example', { text: OWNER });
    await waitUntil('the text', () => askRecords('a-app.home.example.', 'TXT')?.length === 1);
    expect(askRecords('a-app.home.example.', 'TXT')?.[0]).toContain('external-dns/owner=home');

    await save('7f00aa31.www.home.example', { host: 'lb.example.net', text: OWNER });
    const alias = 'www.home.example. 300 IN CNAME lb.example.net.';
    await expect.poll(() => askHandler('www.home.example.')).toContain(alias);
    expect(await askHandler('www.home.example.')).toContain('lb.example.net. 30 IN A 198.51.100.7');
    expect((await askHandler('www.home.example.', 'TXT')).join()).toContain('external-dns/owner=home');

    // A service by its port, as it is written by hand or by an SRV endpoint.
    await save('1.sip.home.example', { host: 'app.home.example', port: 5060, priority: 5 });
    const service = 'sip.home.example. 300 IN SRV 5 100 5060';
    await expect.poll(async () => (await askHandler('sip.home.example.', 'SRV')).join()).toContain(service);

    for (const name of ['4a6f1c02.app', '0b1e77d9.app', '5c9d2e11.a-app', '7f00aa31.www', '1.sip'])
      await remove(`${name}.home.example`);
    for (const name of ['app', 'a-app', 'www', 'sip']) {
      const isGone = () => askTable(`${name}.home.example.`)?.header.rcode === RCODE.NXDOMAIN;
      await waitUntil(`the end of ${name}`, isGone);
    }
  });
});
