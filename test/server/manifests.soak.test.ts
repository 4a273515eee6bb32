/**
 * The program with a folder of manifests: its answers, and how it follows changes.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TYPE } from '@portolan/dns/types.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { ask, askShort } from '@portolan/testing/client/ask.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { endAllPrograms, look, runPortolan, type Serving, servePortolan } from '../support/portolan.ts';

afterAll(endAllPrograms);

describe.each(['udp', 'tcp'] as const)('the example cluster by %s', (transport) => {
  let serving: Serving;
  beforeAll(async () => {
    serving = await servePortolan(['--example']);
    await serving.program.heard('cluster listed');
  });

  it.each<[string, keyof typeof TYPE, string]>([
    ['cart.shop.svc.cluster.local', 'A', '10.96.20.10'],
    ['CART.Shop.svc.cluster.LOCAL', 'A', '10.96.20.10'],
    ['cart.shop.svc.cluster.local', 'AAAA', 'NODATA'],
    ['storefront.shop.svc.cluster.local', 'AAAA', 'fd00:10:96::2011'],
    ['_http._tcp.cart.shop.svc.cluster.local', 'SRV', '80 cart.shop.svc.cluster.local.'],
    ['postgres.data.svc.cluster.local', 'A', '10.244.1.20 10.244.2.20 10.244.3.20'],
    ['postgres-1.postgres.data.svc.cluster.local', 'A', '10.244.2.20'],
    ['payments.shop.svc.cluster.local', 'CNAME', 'api.payments.example.com.'],
    [
      'database.shop.svc.cluster.local',
      'A',
      '10.244.1.20 10.244.2.20 10.244.3.20 postgres.data.svc.cluster.local.',
    ],
    ['10-244-1-10.shop.pod.cluster.local', 'A', '10.244.1.10'],
    ['10.20.96.10.in-addr.arpa', 'PTR', 'cart.shop.svc.cluster.local.'],
    ['kubernetes.default.svc.cluster.local', 'A', '10.96.0.1'],
    ['shop.svc.cluster.local', 'A', 'NODATA'],
    ['gone.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['cart.shop.svc.cluster.local.shop.svc.cluster.local', 'A', 'NXDOMAIN'],
    ['example.com', 'A', 'REFUSED'],
  ])('%s %s is %s', async (name, type, expected) => {
    expect(await askShort(serving, name, type, { transport })).toBe(expected);
  });
});

describe('a folder', () => {
  const SERVICE =
    'apiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: n}\nspec: {clusterIP: 10.96.0.1}\n';
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'manifests-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('that is empty is not ready and denies nothing, until it is filled', async () => {
    const serving = await servePortolan([`--manifests=${folder}`]);
    await serving.program.heard('no manifests found, names are not denied');
    expect((await look(serving, '/readyz')).text).toContain('--allow-empty');
    expect(await askShort(serving, 'a.n.svc.cluster.local', 'A')).toBe('SERVFAIL');
    writeFileSync(join(folder, 'a.yaml'), SERVICE);
    await vi.waitFor(async () => expect((await look(serving, '/readyz')).status).toBe(200), {
      timeout: 10_000,
    });
    expect(await askShort(serving, 'a.n.svc.cluster.local', 'A')).toBe('10.96.0.1');
    expect(await askShort(serving, 'b.n.svc.cluster.local', 'A')).toBe('NXDOMAIN');
  });

  it('with bad files only does not claim to serve', async () => {
    writeFileSync(join(folder, 'a.yaml'), 'kind: [');
    const port = await findFreePort();
    const place = ['--dns-bind-address=127.0.0.1', `--dns-port=${port}`, '--healthz-port=127.0.0.1:0'];
    const program = runPortolan([
      'serve',
      `--manifests=${folder}`,
      ...place,
      '--log-format=json',
      '--upstream=none',
    ]);
    const message = 'no manifest can be used, names of the zone are answered SERVFAIL';
    expect(await program.heard(message)).toMatchObject({ level: 'error', bad: 1, zone: 'cluster.local.' });
    expect(program.log.map((line) => line.message)).not.toContain('serving');
  });

  it('that gets a bad file stays ready, and denies nothing until the file is mended', async () => {
    writeFileSync(join(folder, 'a.yaml'), SERVICE);
    const serving = await servePortolan([`--manifests=${folder}`]);
    await serving.program.heard('cluster listed');
    writeFileSync(
      join(folder, 'b.yaml'),
      SERVICE.replace('name: a', 'name: b').replace('10.96.0.1', '10.96.0.300'),
    );
    await serving.program.heard('bad manifest');
    await expect.poll(() => askShort(serving, 'b.n.svc.cluster.local', 'A')).toBe('SERVFAIL');
    expect(await askShort(serving, 'a.n.svc.cluster.local', 'A')).toBe('10.96.0.1');
    expect((await look(serving, '/readyz')).status).toBe(200);
    writeFileSync(
      join(folder, 'b.yaml'),
      SERVICE.replace('name: a', 'name: b').replace('10.96.0.1', '10.96.0.3'),
    );
    await vi.waitFor(
      async () => expect(await askShort(serving, 'b.n.svc.cluster.local', 'A')).toBe('10.96.0.3'),
      {
        timeout: 10_000,
      },
    );
    expect(await askShort(serving, 'c.n.svc.cluster.local', 'A')).toBe('NXDOMAIN');
  });
});

it.each(['__proto__', 'constructor'])(
  'a file of kind %s is named, at a start and later, and the others are served',
  async (kind) => {
    const folder = mkdtempSync(join(tmpdir(), 'manifests-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
    const odd = `apiVersion: v1\nkind: ${kind}\nmetadata: {name: a}\n`;
    const makeServiceManifest = (name: string) =>
      `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}, namespace: n}\nspec: {clusterIP: 10.96.0.1}\n`;
    write('a.yaml', odd);
    write('b.yaml', makeServiceManifest('b'));
    const serving = await servePortolan([`--manifests=${folder}`]);
    const isNamed = (file: string) =>
      serving.program.log.filter(
        (line) => line.message === 'bad manifest' && line['file'] === join(folder, file),
      );
    await expect.poll(() => isNamed('a.yaml')).toMatchObject([{ line: 1 }]);
    const isServed = async () =>
      expect(await askShort(serving, 'b.n.svc.cluster.local', 'A')).toBe('10.96.0.1');
    await vi.waitFor(isServed, { timeout: 10_000 });
    write('c.yaml', odd);
    write('d.yaml', makeServiceManifest('d'));
    const answered = async () =>
      expect(await askShort(serving, 'd.n.svc.cluster.local', 'A')).toBe('10.96.0.1');
    await vi.waitFor(answered, { timeout: 10_000 });
    expect([isNamed('a.yaml'), isNamed('c.yaml')].map(({ length }) => length)).toEqual([1, 1]);
    expect((await look(serving, '/metrics')).text).toContain(
      'portolan_rejected_items_total{source="manifests",reason="malformed"} 2',
    );
  },
);

describe('addresses', () => {
  it('may be of IPv6', async () => {
    const serving = await servePortolan(['--example'], { address: '::1' });
    await serving.program.heard('cluster listed');
    for (const transport of ['udp', 'tcp'] as const)
      expect(await askShort(serving, 'cart.shop.svc.cluster.local', 'A', { transport })).toBe('10.96.20.10');
    expect((await look(serving, '/readyz')).status).toBe(200);
  });

  it('are all there are, of both families, unless they are named', async () => {
    const port = await findFreePort();
    const flags = [
      '--example',
      '--dns-port',
      String(port),
      '--healthz-port=127.0.0.1:0',
      '--log-format=json',
    ];
    const program = runPortolan(['serve', ...flags]);
    expect(await program.heard('serving')).toMatchObject({ addresses: `0.0.0.0:${port},[::]:${port}` });
    await program.heard('cluster listed');
    for (const address of ['127.0.0.1', '127.0.0.2', '::1'])
      for (const transport of ['udp', 'tcp'] as const)
        expect(await askShort({ address, port }, 'cart.shop.svc.cluster.local', 'A', { transport })).toBe(
          '10.96.20.10',
        );
  });
});

describe('names of pods', () => {
  it.each([
    ['insecure', '10.244.1.10', '10.9.9.9'],
    ['verified', '10.244.1.10', 'NXDOMAIN'],
    ['disabled', 'NXDOMAIN', 'NXDOMAIN'],
  ])('in mode %s', async (mode, ofPod, ofNobody) => {
    const serving = await servePortolan(['--example', '--pods', mode]);
    await serving.program.heard('cluster listed');
    expect(await askShort(serving, '10-244-1-10.shop.pod.cluster.local', 'A')).toBe(ofPod);
    expect(await askShort(serving, '10-9-9-9.shop.pod.cluster.local', 'A')).toBe(ofNobody);
  });
});

describe('what is around the answers', () => {
  let serving: Serving;
  beforeAll(async () => {
    serving = await servePortolan(['--example', '--ttl', '7', '--dialect=kube-dns', '--domain', 'Test.']);
    await serving.program.heard('cluster listed');
  });

  it('follows the flags', async () => {
    const { answers, header } = await ask(serving, 'cart.shop.svc.test', 'A');
    expect(answers).toMatchObject([{ ttl: 7, data: { address: '10.96.20.10' } }]);
    expect(header.recursionAvailable).toBe(true);
    expect(serving.program.log.find(({ message }) => message === 'serving')).toMatchObject({
      zone: 'test.',
      dialect: 'kube-dns',
      addresses: `${serving.address}:${serving.port}`,
      readers: 1,
    });
  });

  it('is counted, whichever way an answer took', async () => {
    await askShort(serving, 'gone.shop.svc.test', 'A');
    await askShort(serving, 'gone.shop.svc.test', 'A', { transport: 'tcp' });
    await askShort(serving, 'example.com', 'MX');
    const { text } = await look(serving, '/metrics');
    expect(text).toContain('portolan_dns_queries_total{type="A",rcode="NXDOMAIN"} 2');
    expect(text).toContain('portolan_dns_queries_total{type="MX",rcode="REFUSED"} 1');
    expect(text).toContain('portolan_manifest_files{state="served"} 3');
    expect(text).toContain('portolan_internal_errors_total 0');
    expect(text).toContain('portolan_tcp_queries_total 1');
    expect(text).toContain('portolan_ready 1');
  });

  it('is said in one line when an operator asks', async () => {
    serving.program.signal('SIGUSR1');
    expect(await serving.program.heard('report')).toMatchObject({ ready: true, ringDrops: 0 });
  });

  it('says that it is ready and alive', async () => {
    expect(await look(serving, '/readyz')).toEqual({ status: 200, text: 'ok\n' });
    expect(await look(serving, '/healthz')).toEqual({ status: 200, text: 'ok\n' });
  });
});

describe('a folder that changes', () => {
  let folder: string;
  let serving: Serving;
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const service = (name: string, spec: string) =>
    `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}, namespace: shop}\nspec: ${spec}\n`;
  const seen = (name: string, expected: string) =>
    vi.waitFor(
      async () => expect(await askShort(serving, `${name}.shop.svc.cluster.local`, 'A')).toBe(expected),
      {
        timeout: 10_000,
        interval: 20,
      },
    );

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'portolan-'));
    write('a.yaml', service('cart', '{clusterIP: 10.96.0.7}'));
    serving = await servePortolan(['--manifests', folder]);
    await serving.program.heard('cluster listed');
  });
  afterEach(async () => {
    await endAllPrograms();
    rmSync(folder, { recursive: true });
  });

  it('is followed: objects change, come and go', async () => {
    await seen('cart', '10.96.0.7');
    write('a.yaml', service('cart', '{clusterIP: 10.96.0.8}'));
    await seen('cart', '10.96.0.8');
    write(
      'b.json',
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'till', namespace: 'shop' },
        spec: { clusterIP: '10.96.0.9' },
      }),
    );
    await seen('till', '10.96.0.9');
    rmSync(join(folder, 'a.yaml'));
    await seen('cart', 'NXDOMAIN');
    await seen('till', '10.96.0.9');
  });

  it('keeps the last good version of a file that turns bad, and says where it is bad', async () => {
    write('a.yaml', `${service('cart', '{clusterIP: 10.96.0.8}')}---\nkind: [\n`);
    expect(await serving.program.heard('bad manifest')).toMatchObject({
      level: 'error',
      file: join(folder, 'a.yaml'),
      line: 7,
      served: 'its last good version',
    });
    await seen('cart', '10.96.0.7');
    write('b.yaml', service('till', '{clusterIP: 10.96.0.9}'));
    await seen('till', '10.96.0.9');
    expect((await look(serving, '/metrics')).text).toContain('portolan_manifest_files{state="bad"} 1');
  });

  it('gives a service without an address the same one every time, with a warning', async () => {
    write('b.yaml', service('cart2', '{ports: [{port: 80}]}'));
    const warning = await serving.program.heard(
      'service without clusterIP, an address is made up from its name',
    );
    expect(warning).toMatchObject({
      level: 'warn',
      object: 'Service shop/cart2',
      file: join(folder, 'b.yaml'),
      line: 1,
    });
    await seen('cart2', String(warning['detail']));
    const second = await servePortolan(['--manifests', folder]);
    await second.program.heard('cluster listed');
    expect(await askShort(second, 'cart2.shop.svc.cluster.local', 'A')).toBe(warning['detail']);
  });
});
