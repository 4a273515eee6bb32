/**
 * The program while something is missing: its cluster, its upstream servers, or a forwarding path without a loop.
 */
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { askShort, exchange } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { answerFromZone, makeAddress } from '@portolan/testing/upstream/reactions.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms, look, servePortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

async function startWorld(): Promise<LoopbackUpstream> {
  const world = await LoopbackUpstream.start(
    answerFromZone({
      'www.example. A': [makeAddress('192.0.2.1')],
      'mail.corp.cluster.local. A': [makeAddress('10.1.1.3')],
    }),
  );
  onTestFinished(() => world.stop());
  return world;
}

describe('without an API server', () => {
  it('names outside are answered from the first moment', async () => {
    const world = await startWorld();
    const nobody = `http://127.0.0.1:${await findFreePort()}`;
    const serving = await servePortolan([
      '--kube-master-url',
      nobody,
      '--upstream',
      world.address,
      '--stub-domain',
      `corp.cluster.local=${world.address}`,
    ]);
    expect(await askShort(serving, 'www.example', 'A')).toBe('192.0.2.1');
    expect(await askShort(serving, 'mail.corp.cluster.local', 'A')).toBe('10.1.1.3');
    expect(await askShort(serving, 'web.shop.svc.cluster.local', 'A')).toBe('SERVFAIL');
    expect((await look(serving, '/readyz')).status).toBe(503);
  });
});

describe('without upstream servers', () => {
  it.each([
    ['a resolv file that is missing', undefined],
    ['a resolv file without servers', '# nothing\nsearch example.org\n'],
  ])('%s: names outside are refused, and the log says so', async (_, content) => {
    const folder = await makeTemporaryFolder();
    if (content !== undefined) await folder.write('resolv.conf', content);
    const serving = await servePortolan(['--example', '--resolv-file', `${folder.path}/resolv.conf`]);
    const line = serving.program.log.find(
      ({ message }) => message === 'names outside the cluster are refused',
    );
    expect(line).toMatchObject({ level: 'warn', reason: `no server in ${folder.path}/resolv.conf` });
    await serving.program.heard('cluster listed');
    expect(await askShort(serving, 'www.example', 'A')).toBe('REFUSED');
    expect(await askShort(serving, 'cart.shop.svc.cluster.local', 'A')).toBe('10.96.20.10');
    // An alias that leads out is told as far as we know it.
    expect(await askShort(serving, 'payments.shop.svc.cluster.local', 'A')).toBe('api.payments.example.com.');
    // Servers that come later are found.
    await folder.write('resolv.conf', 'nameserver 127.0.0.97\n');
    expect(await serving.program.heard('upstream servers')).toMatchObject({ servers: '127.0.0.97:53' });
  });

  it('and none wanted, stub domains have theirs', async () => {
    const world = await startWorld();
    const serving = await servePortolan([
      '--example',
      '--upstream=none',
      '--stub-domain',
      `example=${world.address}`,
    ]);
    expect(await askShort(serving, 'www.example', 'A')).toBe('192.0.2.1');
    expect(await askShort(serving, 'www.elsewhere', 'A')).toBe('REFUSED');
  });
});

describe('a server that leads back to us', () => {
  it('is left out with an error, and the other one answers everything', { timeout: 30_000 }, async () => {
    const world = await startWorld();
    const port = await findFreePort();
    const mirror = await LoopbackUpstream.start(({ query, send }) => {
      // Whatever it is asked, it asks us.
      void exchange({ address: '127.0.0.1', port }, query, { deadline: 1_000 }).then(send, () => {});
    });
    onTestFinished(() => mirror.stop());
    const serving = await servePortolan(
      ['--example', '--upstream', mirror.address, '--upstream', world.address],
      { port },
    );
    const line = await serving.program.heard('forwarding loop: upstream server disabled');
    expect(line).toMatchObject({ level: 'error', upstream: mirror.address });
    for (let index = 0; index < 50; index += 1)
      expect(await askShort(serving, `n${index}.example`, 'A')).toBe('NXDOMAIN');
    expect(await askShort(serving, 'www.example', 'A')).toBe('192.0.2.1');
    const { text } = await look(serving, '/metrics');
    expect(text).toContain(`portolan_upstream_state{upstream="${mirror.address}",state="looping"} 1`);
    expect(text).toContain(`portolan_upstream_loops_total{upstream="${mirror.address}"} 1`);
  });

  it('is noticed when it is ourselves', async () => {
    const port = await findFreePort();
    const serving = await servePortolan(['--example', '--upstream', `127.0.0.1:${port}`], { port });
    await serving.program.heard('forwarding loop: upstream server disabled');
    expect(await askShort(serving, 'www.example', 'A')).toBe('SERVFAIL');
    await serving.program.heard('cluster listed');
    expect(await askShort(serving, 'cart.shop.svc.cluster.local', 'A')).toBe('10.96.20.10');
  });
});
