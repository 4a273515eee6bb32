/**
 * `portolan kube2sky` with the API server double and a real etcd, by versions 3 and 2 of its API.
 */

import { EtcdV2Client } from '@portolan/etcd/v2/client.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { readKustomization } from '@portolan/ops/manifests/layout-files.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, describe, expect, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { findUnused, formatUser, readRules } from '../api-server/rbac.ts';
import { type EtcdCluster, startEtcd } from '../etcd/etcd-server.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { itWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

const OBJECTS: readonly KubernetesObject[] = [
  {
    kind: 'Service',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { clusterIP: '10.96.0.7', ports: [{ name: 'http', protocol: 'TCP', port: 80 }, { port: 81 }] },
  },
  { kind: 'Service', metadata: { name: 'db', namespace: 'shop' }, spec: { clusterIP: 'None', ports: [] } },
  {
    kind: 'EndpointSlice',
    metadata: { name: 'db-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'db' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: true } }],
    ports: [{ name: 'sql', protocol: 'TCP', port: 5432 }],
  },
  {
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'shop' },
    status: { phase: 'Running', podIP: '10.1.0.1', podIPs: [{ ip: '10.1.0.1' }] },
  },
];

const SVC = '/skydns/local/cluster/svc/shop';
const record = (host: string, port?: number): string =>
  JSON.stringify({ host, ...(port === undefined ? {} : { port }), priority: 10, weight: 10, ttl: 30 });
/** The hashes are those of FNV-1a of the values. */
const RECORDS: Readonly<Record<string, string>> = {
  [`${SVC}/db/HASH2`]: record('10.1.0.1'),
  [`${SVC}/db/_tcp/_sql/HASH2`]: record('HASH2.db.shop.svc.cluster.local.', 5432),
  [`${SVC}/web/HASH1`]: record('10.96.0.7'),
  [`${SVC}/web/_tcp/_http/HASH1`]: record('web.shop.svc.cluster.local.', 80),
  '/skydns/local/cluster/pod/shop/10-1-0-1/HASH2': record('10.1.0.1'),
};
/** FNV-1a, once more. */
function fnv(text: string): string {
  let hash = 2166136261n;
  for (const octet of Buffer.from(text)) hash = ((hash ^ BigInt(octet)) * 16777619n) % 2n ** 32n;
  return hash.toString(16);
}
const HASHES = { HASH1: fnv(record('10.96.0.7')), HASH2: fnv(record('10.1.0.1')) };
const withHashes = (text: string): string =>
  text.replaceAll('HASH1', HASHES.HASH1).replaceAll('HASH2', HASHES.HASH2);
const EXPECTED = JSON.parse(withHashes(JSON.stringify(RECORDS))) as Readonly<Record<string, string>>;

async function startDouble(): Promise<ApiServerDouble> {
  const double = await ApiServerDouble.start({ objects: OBJECTS, watchList: true });
  onTestFinished(() => double.stop());
  return double;
}

type Version = 2 | 3;

function run(double: ApiServerDouble, etcd: EtcdCluster, version: Version = 3): Program {
  return runPortolan([
    'kube2sky',
    `-etcd-server=${etcd.first.url}`,
    `-kube-master-url=${double.url}`,
    '-healthz-port=0',
    '-domain=cluster.local',
    `-etcd3=${version === 3}`,
  ]);
}

async function stored(etcd: EtcdCluster): Promise<Readonly<Record<string, string>>> {
  const lines = (await etcd.control('get', '--prefix', '/skydns/')).trimEnd().split('\n');
  const pairs = lines.flatMap((key, at) => (at % 2 === 0 && key !== '' ? [[key, lines[at + 1] ?? '']] : []));
  return Object.fromEntries(pairs) as Record<string, string>;
}

/** By version 2, which lists no keys with an underscore: those are asked for by their names. */
async function storedByVersion2(etcd: EtcdCluster): Promise<Readonly<Record<string, string>>> {
  const client = new EtcdV2Client(etcd.settings, systemClock);
  try {
    const unlisted = Object.keys(EXPECTED).filter((key) => key.includes('/_'));
    const replies = await Promise.all(['/skydns', ...unlisted].map((key) => client.read(key)));
    return Object.fromEntries(replies.flatMap(({ nodes }) => nodes.map(({ key, value }) => [key, value])));
  } finally {
    client.close();
  }
}

const PATIENT = { timeout: 30_000 };

describe('beside etcd', () => {
  itWithTool(
    'etcd',
    'writes what kube2sky wrote, removes what is stale, and leaves others alone',
    async () => {
      const etcd = await startEtcd();
      const stale = `${SVC}/gone/abcdef`;
      const foreign = '/skydns/local/cluster/by-hand';
      await etcd.control('put', stale, record('10.96.9.9'));
      await etcd.control('put', foreign, record('192.0.2.1'));
      await etcd.control('put', `${SVC}/web/${HASHES.HASH1}`, 'broken');
      const double = await startDouble();
      const program = run(double, etcd);
      const withForeign = { ...EXPECTED, [foreign]: record('192.0.2.1') };
      await expect.poll(() => stored(etcd), PATIENT).toEqual(withForeign);
      const { port } = await program.heard('started');
      const readiness = async () => (await fetch(`http://127.0.0.1:${port}/readiness`)).status;
      await expect.poll(readiness, PATIENT).toBe(200);
      double.delete('Service', 'web', 'shop');
      const left = Object.entries(withForeign).filter(([key]) => !key.startsWith(`${SVC}/web/`));
      await expect.poll(() => stored(etcd), PATIENT).toEqual(Object.fromEntries(left));
      program.signal('SIGTERM');
      expect(await program.exit).toEqual({ code: 0, signal: null });
    },
  );

  for (const version of [3, 2] as const) {
    itWithTool(
      'etcd',
      `lets one of two instances write, and the other one go on, by version ${version}`,
      async () => {
        const etcd = await startEtcd({ v2: version === 2 });
        const double = await startDouble();
        const first = run(double, etcd, version);
        await first.heard('records written');
        const deprecations = first.log.filter(({ message }) => message.includes('deprecated'));
        expect(deprecations).toHaveLength(version === 2 ? 1 : 0);
        const second = run(double, etcd, version);
        await second.heard('listed');
        first.signal('SIGTERM');
        await first.exit;
        double.delete('Pod', 'p', 'shop');
        await second.heard('records written');
        const read = version === 2 ? storedByVersion2 : stored;
        const keys = async () => Object.keys(await read(etcd)).filter((key) => key.includes('/pod/'));
        await expect.poll(keys, PATIENT).toEqual([]);
      },
    );
  }

  itWithTool(
    'etcd',
    'writes by version 2, and removes what is stale even where it is not listed',
    async () => {
      const etcd = await startEtcd({ v2: true });
      const client = new EtcdV2Client(etcd.settings, systemClock);
      onTestFinished(() => client.close());
      await client.set(`${SVC}/gone/abcdef`, record('10.96.9.9'));
      const double = await startDouble();
      const first = run(double, etcd, 2);
      await expect.poll(() => storedByVersion2(etcd), PATIENT).toEqual(EXPECTED);
      first.signal('SIGTERM');
      await first.exit;
      // A name that any client may have written into the list of those that are not listed.
      const foreign = '/other/_key';
      await client.set(foreign, 'of others');
      await client.set(`/portolan/kube2sky/cluster.local.unlisted${SVC}/foreign`, foreign);
      double.delete('Service', 'web', 'shop');
      const left = Object.entries(EXPECTED).filter(([key]) => !key.startsWith(`${SVC}/web/`));
      const second = run(double, etcd, 2);
      await expect.poll(() => storedByVersion2(etcd), PATIENT).toEqual(Object.fromEntries(left));
      // Its folder goes after its key.
      const folder = async () => (await fetch(`${etcd.first.url}/v2/keys${SVC}/web`)).status;
      await expect.poll(folder, PATIENT).toBe(404);
      expect((await client.read(foreign)).nodes.map(({ value }) => value)).toEqual(['of others']);
      expect(second.ended).toBeUndefined();
    },
  );

  itWithTool('etcd', 'fills the etcd of `portolan skydns` by version 2', async () => {
    const etcd = await startEtcd({ v2: true });
    const double = await startDouble();
    const port = await findFreePort();
    const skydns = runPortolan([
      'skydns',
      `-machines=${etcd.first.url}`,
      `-addr=127.0.0.1:${port}`,
      '-domain=cluster.local.',
      '-nameservers=127.0.0.1:9',
    ]);
    run(double, etcd, 2);
    const server = { address: '127.0.0.1', port };
    await skydns.heard('etcd read');
    const ask = (name: string, type: 'A' | 'SRV') => askShort(server, `${name}.svc.cluster.local.`, type);
    await expect
      .poll(() => ask('_http._tcp.web.shop', 'SRV'), PATIENT)
      .toBe('80 web.shop.svc.cluster.local.');
    await expect.poll(() => ask('web.shop', 'A'), PATIENT).toBe('10.96.0.7');
    const target = `${HASHES.HASH2}.db.shop.svc.cluster.local.`;
    await expect.poll(() => ask('_sql._tcp.db.shop', 'SRV'), PATIENT).toBe(`5432 ${target}`);
    expect(await ask('_none._tcp.web.shop', 'SRV')).toBe('NXDOMAIN');
    await etcd.first.kill();
    await expect.poll(() => ask('_http._tcp.web.shop', 'SRV'), PATIENT).toBe('SERVFAIL');
    expect(await ask('web.shop', 'A')).toBe('10.96.0.7');
  });

  itWithTool('etcd', 'goes on when etcd is back, and ends when it stays away', async () => {
    const etcd = await startEtcd();
    const double = await startDouble();
    const program = run(double, etcd);
    await program.heard('records written');
    await etcd.first.kill();
    await program.heard('etcd cannot be written to');
    await etcd.first.start();
    await program.heard('etcd is written to again');
    await etcd.first.kill();
    expect(await program.exit).toEqual({ code: 1, signal: null });
  });

  itWithTool('etcd', 'needs the rights that deploy/skydns gives it, and no others', async () => {
    const etcd = await startEtcd({ v2: true });
    const account = { namespace: 'kube-system', name: 'kube-dns' };
    const rules = readRules(
      readKustomization('deploy/skydns').map(({ text }) => text),
      account,
    );
    const user = formatUser(account);
    const double = await ApiServerDouble.start({
      access: { tokens: { secret: user }, rules: { [user]: rules } },
      objects: OBJECTS,
      // Credentials are sent over TLS only.
      tls: 'server',
    });
    onTestFinished(() => double.stop());
    const kubeconfig = {
      'current-context': 'a',
      clusters: [{ name: 'a', cluster: { server: double.url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'a', user: { token: 'secret' } }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    };
    const folder = await makeTemporaryFolder(onTestFinished);
    const path = await folder.write('kubeconfig', JSON.stringify(kubeconfig));
    runPortolan(['kube2sky', `-etcd-server=${etcd.first.url}`, `-kubecfg-file=${path}`, '-healthz-port=0']);
    await expect.poll(() => storedByVersion2(etcd), PATIENT).toEqual(EXPECTED);
    // These are for API servers without EndpointSlices.
    const unused = () => findUnused(rules, double.requests);
    await expect.poll(unused, PATIENT).toEqual(['list endpoints', 'watch endpoints']);
    expect(double.requests.filter(({ status }) => status === 403)).toEqual([]);
  });
});
