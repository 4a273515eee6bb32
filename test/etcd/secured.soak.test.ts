/**
 * Names from an etcd that requires a certificate, a user and a password: by `portolan skydns` and by the plugin of a Corefile.
 */
import { writeFile } from 'node:fs/promises';
import { EtcdClient } from '@portolan/etcd/source/client/etcd-client.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { describeWithTool } from '../support/tools.ts';
import { CLIENT_TLS, type EtcdCluster, startEtcd, USER } from './etcd-server.ts';

const { authority = '', certificate = '', key: clientKey = '' } = CLIENT_TLS;

afterEach(endAllPrograms);

function startSkyDns({ first }: EtcdCluster, port: number): void {
  runPortolan([
    'skydns',
    '-etcd3',
    '-machines',
    first.url,
    '-addr',
    `127.0.0.1:${port}`,
    '-nameservers',
    '127.0.0.1:9',
    '-domain',
    'skydns.test.',
    '-tls-key',
    clientKey,
    '-tls-pem',
    certificate,
    '-ca-cert',
    authority,
    '-username',
    USER.username,
    '-password',
    USER.password,
  ]);
}

async function startCoreDns({ first }: EtcdCluster, port: number): Promise<void> {
  const { path } = await makeTemporaryFolder(onTestFinished);
  const plugin = [
    `endpoint ${first.url}`,
    `tls ${certificate} ${clientKey} ${authority}`,
    `credentials ${USER.username} ${USER.password}`,
  ];
  const block = ['bind 127.0.0.1', 'etcd {', ...plugin, '}'].join('\n');
  await writeFile(`${path}/Corefile`, `skydns.test:${port} {\n${block}\n}\n`);
  runPortolan(['coredns', '-conf', `${path}/Corefile`]);
}

async function waitForAnswer(port: number, answer: string): Promise<void> {
  const end = performance.now() + 40_000;
  let last = '';
  while (last !== answer) {
    if (performance.now() > end) throw new Error(`${answer} was never answered, but ${last}`);
    last = await askShort({ address: '127.0.0.1', port }, 'a.skydns.test.', 'A').catch(String);
  }
}

describeWithTool(['etcd', 'etcdctl'], 'names of an etcd with TLS and users', () => {
  it('are answered, and followed after a restart that forgets all tokens', async () => {
    const etcd = await startEtcd({ tls: true });
    await etcd.enableAuth();
    const client = new EtcdClient({ ...etcd.settings, credentials: USER }, systemClock);
    onTestFinished(() => client.close());
    const put = async (address: string) => {
      const key = Buffer.from('/skydns/test/skydns/a');
      const value = Buffer.from(`{"host":"${address}"}`);
      await client.transact({ conditions: [], operations: [{ kind: 'put', key, value }] });
    };
    const ports = [await findFreePort(), await findFreePort()] as const;
    await put('10.0.0.1');
    startSkyDns(etcd, ports[0]);
    await startCoreDns(etcd, ports[1]);
    for (const port of ports) await waitForAnswer(port, '10.0.0.1');
    await etcd.first.kill();
    await etcd.first.start();
    // The token of this client is forgotten too.
    await put('10.0.0.2').catch(async () => await put('10.0.0.2'));
    for (const port of ports) await waitForAnswer(port, '10.0.0.2');
    expect(await askShort({ address: '127.0.0.1', port: ports[0] }, 'b.skydns.test.', 'A')).toBe('NXDOMAIN');
  });
});
