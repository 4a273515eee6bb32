/**
 * `portolan skydns` with a real etcd: by both versions of its API, with its configuration, stub zones and outages.
 */

import { EtcdClient } from '@portolan/etcd/source/client/etcd-client.ts';
import { EtcdV2Client } from '@portolan/etcd/v2/client.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask, askShort } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import type { Program } from '@portolan/testing/program.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { makeAddressRecord, reply } from '@portolan/testing/upstream/reply.ts';
import { expect, it, onTestFinished } from 'vitest';
import { type EtcdCluster, startEtcd } from '../etcd/etcd-server.ts';
import { runPortolan } from '../support/portolan.ts';
import { describeWithTool } from '../support/tools.ts';

type Put = (key: string, value: string) => Promise<unknown>;

const waitFor = async (what: string, condition: () => Promise<boolean>) =>
  await waitUntil(what, () => condition().catch(() => false));

/** What writes keys. */
function makeWriter(etcd: EtcdCluster): Put {
  const client = new EtcdClient(etcd.settings, systemClock);
  onTestFinished(() => client.close());
  return (key, value) =>
    client.transact({
      conditions: [],
      operations: [{ kind: 'put', key: Buffer.from(key), value: Buffer.from(value) }],
    });
}

async function startSkyDns(etcd: EtcdCluster, ...flags: readonly string[]) {
  const port = await findFreePort();
  const machines = etcd.members.map(({ url }) => url).join(',');
  const program = runPortolan([
    'skydns',
    '-machines',
    machines,
    '-addr',
    `127.0.0.1:${port}`,
    '-domain',
    'skydns.test.',
    '-nameservers',
    '127.0.0.1:9',
    ...flags,
  ]);
  onTestFinished(async () => {
    program.process.kill('SIGKILL');
    await program.exit;
  });
  return { program, server: { address: '127.0.0.1', port } satisfies DnsServer };
}

/** A name server that answers every question with an address. */
async function startUpstream(address: string): Promise<number> {
  const upstream = await LoopbackUpstream.start(({ query, send }) =>
    send(
      reply(query, {
        header: { ...query.header, response: true },
        answers: [makeAddressRecord(query, address)],
        edns: undefined,
      }),
    ),
  );
  onTestFinished(() => upstream.stop());
  return upstream.port;
}

const countDeprecations = ({ log }: Program): number =>
  log.filter(({ message }) => message === 'version 2 of the API of etcd is deprecated: use -etcd3').length;

describeWithTool('etcd', 'portolan skydns', () => {
  it('answers by further plugins before its zones', async () => {
    const etcd = await startEtcd();
    await makeWriter(etcd)('/skydns/test/skydns/a', '{"host":"10.0.0.1"}');
    const folder = await makeTemporaryFolder();
    await folder.write('extra', '. {\n  rewrite name exact alias.example a.skydns.test\n}\n');
    const { program, server } = await startSkyDns(etcd, '-etcd3', '-blocks-extra', `${folder.path}/extra`);
    await program.heard('ready for queries');
    expect(await askShort(server, 'alias.example.', 'A')).toBe('10.0.0.1');
    expect(await askShort(server, 'a.skydns.test.', 'A')).toBe('10.0.0.1');
  });

  it('answers by version 3, and follows changes', async () => {
    const etcd = await startEtcd();
    const put = makeWriter(etcd);
    await put('/skydns/test/skydns/a/1', '{"host":"10.0.0.1","port":80}');
    const { program, server } = await startSkyDns(etcd, '-etcd3');
    await program.heard('ready for queries');
    expect(countDeprecations(program)).toBe(0);
    expect(await askShort(server, 'a.skydns.test.', 'A')).toBe('10.0.0.1');
    expect(await askShort(server, 'a.skydns.test.', 'SRV')).toBe('80 1.a.skydns.test.');
    expect(await askShort(server, 'b.skydns.test.', 'A')).toBe('NXDOMAIN');
    expect(await askShort(server, '*.skydns.test.', 'A')).toBe('10.0.0.1');
    const { answers } = await ask(server, 'skydns.test.', 'SOA');
    expect(answers[0]).toMatchObject({
      ttl: 3600,
      data: { mailbox: 'hostmaster.skydns.local.', minimum: 60 },
    });
    await put('/skydns/test/skydns/b', '{"host":"10.0.0.2"}');
    await waitFor('the new name', async () => (await askShort(server, 'b.skydns.test.', 'A')) === '10.0.0.2');
  });

  it('answers by version 2', async () => {
    const etcd = await startEtcd({ v2: true });
    const client = new EtcdV2Client(etcd.settings, systemClock);
    onTestFinished(() => client.close());
    await client.set('/skydns/test/skydns/a', '{"host":"10.0.0.1"}', { ttl: 900 });
    const { program, server } = await startSkyDns(etcd);
    await program.heard('ready for queries');
    expect(countDeprecations(program)).toBe(1);
    const { answers } = await ask(server, 'a.skydns.test.', 'A');
    expect(answers[0]?.ttl).toBeLessThanOrEqual(900);
    expect(answers[0]?.ttl).toBeGreaterThan(600);
    await client.set('/skydns/test/skydns/b', '{"host":"10.0.0.2"}');
    await waitFor('the new name', async () => (await askShort(server, 'b.skydns.test.', 'A')) === '10.0.0.2');
    await client.remove('/skydns/test/skydns/b');
    await waitFor(
      'the end of it',
      async () => (await askShort(server, 'b.skydns.test.', 'A')) === 'NXDOMAIN',
    );
  });

  it('answers by version 2 from keys that etcd does not list: by name, behind wildcards, and as targets', async () => {
    const etcd = await startEtcd({ v2: true });
    const client = new EtcdV2Client(etcd.settings, systemClock);
    onTestFinished(() => client.close());
    const set = (key: string, value: object) =>
      client.set(`/skydns/test/skydns${key}`, JSON.stringify(value));
    await set('/a/_tcp/_http/1', { host: '10.0.0.1', port: 80 });
    await set('/a/_tcp/_http/2', { host: '10.0.0.2', port: 81 });
    await set('/alias', { host: '_http._tcp.a.skydns.test' });
    await set('/twice', { host: '1._http._tcp.b.skydns.test' });
    await set('/b/_tcp/_http/1', { host: '2._http._tcp.a.skydns.test' });
    await set('/server', { host: '1._http._tcp.a.skydns.test', port: 8080 });
    const { program, server } = await startSkyDns(etcd);
    await program.heard('ready for queries');
    expect(await askShort(server, '_http._tcp.a.skydns.test.', 'A')).toBe('10.0.0.1 10.0.0.2');
    expect(await askShort(server, '1._http._tcp.a.skydns.test.', 'A')).toBe('10.0.0.1');
    expect(await askShort(server, '2.*._tcp.a.skydns.test.', 'A')).toBe('NXDOMAIN');
    expect(await askShort(server, '*._http._tcp.a.skydns.test.', 'A')).toBe('10.0.0.1 10.0.0.2');
    expect(await askShort(server, 'alias.skydns.test.', 'A')).toContain('10.0.0.1');
    expect(await askShort(server, 'twice.skydns.test.', 'A')).toContain('10.0.0.2');
    expect(await ask(server, 'server.skydns.test.', 'SRV')).toMatchObject({
      answers: [{ data: { kind: 'SRV', port: 8080, target: '1._http._tcp.a.skydns.test.' } }],
      additionals: [{ name: '1._http._tcp.a.skydns.test.', data: { kind: 'A', address: '10.0.0.1' } }],
    });
    expect(await askShort(server, 'missing._tcp.a.skydns.test.', 'A')).toBe('NXDOMAIN');
  });

  it('says that version 2 is off, where SkyDNS was silently empty', async () => {
    const { program, server } = await startSkyDns(await startEtcd());
    expect((await program.heard('etcd not followed'))['reason']).toContain('--enable-v2');
    await waitFor('SERVFAIL', async () => (await askShort(server, 'a.skydns.test.', 'A')) === 'SERVFAIL');
  });

  it('reads the key config, which wins over flags, and follows it', async () => {
    const etcd = await startEtcd();
    const put = makeWriter(etcd);
    const port = await findFreePort();
    const config = { dns_addr: `127.0.0.1:${port}`, ttl: 99, min_ttl: 7, domain: 'over.test.', priority: 33 };
    await put('/skydns/config', JSON.stringify({ ...config, hostmaster: 'me@b.test' }));
    await put('/skydns/test/over/a', '{"host":"10.0.0.1"}');
    const { program } = await startSkyDns(etcd, '-etcd3');
    await program.heard('ready for queries');
    const server = { address: '127.0.0.1', port };
    const { answers } = await ask(server, 'a.over.test.', 'SRV');
    expect(answers[0]).toMatchObject({ ttl: 99, data: { priority: 33 } });
    const { authorities } = await ask(server, 'b.over.test.', 'A');
    expect(authorities[0]).toMatchObject({ ttl: 7, data: { minimum: 7, mailbox: 'me.b.test.' } });
    const upstream = await startUpstream('192.0.2.1');
    await put('/skydns/config', JSON.stringify({ ...config, nameservers: [`127.0.0.1:${upstream}`] }));
    await waitFor(
      'the new server',
      async () => (await askShort(server, 'www.example.', 'A')) === '192.0.2.1',
    );
  });

  it('ends where the key config is malformed, and where it is told what it cannot do', async () => {
    const etcd = await startEtcd();
    await makeWriter(etcd)('/skydns/config', '{');
    const { program } = await startSkyDns(etcd, '-etcd3');
    expect((await program.exit).code).toBe(1);
    expect(program.errors).toContain('not a JSON object');
    const words = ['-dnssec', 'Kskydns.local.+005+38250', '-snapshot-max-age', '1h'];
    const refused = runPortolan(['skydns', ...words]);
    expect((await refused.exit).code).toBe(2);
    expect(refused.errors).toContain('Portolan does not sign answers');
    expect(refused.errors).toContain('-snapshot-max-age: has no effect without -snapshot: "1h"');
  });

  it('forwards names with enough labels, stub zones to their servers, and nothing with -no-rec', async () => {
    const etcd = await startEtcd();
    const put = makeWriter(etcd);
    const upstream = await startUpstream('192.0.2.1');
    const stub = await startUpstream('192.0.2.2');
    await put('/skydns/test/skydns/dns/stub/ext.example/x', `{"host":"127.0.0.1","port":${stub}}`);
    await put('/skydns/test/skydns/out', '{"host":"www.out.example"}');
    const { program, server } = await startSkyDns(
      etcd,
      '-etcd3',
      '-stubzones',
      '-nameservers',
      `127.0.0.1:${upstream}`,
      '-local',
      'out.skydns.test',
    );
    await program.heard('ready for queries');
    expect(await askShort(server, 'www.example.', 'A')).toBe('192.0.2.1');
    expect(await askShort(server, 'example.', 'A')).toBe('SERVFAIL');
    expect(await askShort(server, 'a.ext.example.', 'A')).toBe('192.0.2.2');
    expect(await askShort(server, 'out.skydns.test.', 'A')).toBe('192.0.2.1 www.out.example.');
    expect(await askShort(server, 'local.dns.skydns.test.', 'A')).toBe('192.0.2.1 www.out.example.');
    const other = await startSkyDns(etcd, '-etcd3', '-no-rec');
    await other.program.heard('ready for queries');
    expect(await askShort(other.server, 'www.example.', 'A')).toBe('SERVFAIL');
  });

  it('starts without etcd, answers nothing until it is there, and answers what was known when it is away', async () => {
    const etcd = await startEtcd();
    await makeWriter(etcd)('/skydns/test/skydns/a', '{"host":"10.0.0.1"}');
    await etcd.first.kill();
    const { program, server } = await startSkyDns(etcd, '-etcd3');
    await program.heard('ready for queries');
    expect(await askShort(server, 'a.skydns.test.', 'A')).toBe('SERVFAIL');
    await etcd.first.start();
    await program.heard('etcd read');
    expect(await askShort(server, 'a.skydns.test.', 'A')).toBe('10.0.0.1');
    await program.heard('etcd followed again');
    await etcd.first.kill();
    await waitFor(
      'the outage',
      async () => program.log.filter(({ message }) => message === 'etcd not followed').length > 1,
    );
    expect(await askShort(server, 'a.skydns.test.', 'A')).toBe('10.0.0.1');
  });

  it('shows the metrics of SkyDNS beside its own, and how old what it knows is', async () => {
    const etcd = await startEtcd();
    await makeWriter(etcd)('/skydns/test/skydns/a', '{"host":"10.0.0.1"}');
    const [port, metricsPort, healthPort] = [
      await findFreePort(),
      await findFreePort(),
      await findFreePort(),
    ];
    const program = runPortolan(
      [
        'skydns',
        '-etcd3',
        '-machines',
        etcd.first.url,
        '-addr',
        `127.0.0.1:${port}`,
        '-domain',
        'skydns.test.',
        '-nameservers',
        '127.0.0.1:9',
        '-healthz-port',
        String(healthPort),
      ],
      {
        environment: {
          PROMETHEUS_PORT: String(metricsPort),
          PROMETHEUS_PATH: '/old',
          PROMETHEUS_NAMESPACE: 'one',
          PROMETHEUS_SUBSYSTEM: 'two',
        },
      },
    );
    onTestFinished(async () => {
      program.process.kill('SIGKILL');
      await program.exit;
    });
    const fetchText = async (url: string) => (await fetch(url)).text();
    const readiness = () => fetchText(`http://127.0.0.1:${healthPort}/readiness`);
    await program.heard('etcd read');
    await waitFor('readiness', async () => (await readiness()) === 'ok\n');
    expect(await askShort({ address: '127.0.0.1', port }, 'a.skydns.test.', 'A')).toBe('10.0.0.1');
    const metrics = await fetchText(`http://127.0.0.1:${metricsPort}/old`);
    expect(metrics).toContain('one_two_dns_request_count_total');
    expect(metrics).toContain('portolan_etcd_keys{state="good"} 1');
    expect(metrics).toContain('portolan_etcd_data_age_seconds 0');
    await etcd.first.kill();
    await waitFor('the outage', async () => (await readiness()).startsWith('ok\netcd: not followed for '));
    expect((await fetch(`http://127.0.0.1:${healthPort}/readiness`)).status).toBe(200);
  });
});
