/**
 * Clients in different zones, asked of whole programs: each gets the endpoints of its own zone, from readers and from the chain,
 * over UDP and TCP, and never what was stored for the other.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { namespace, service, slice } from '../list-watch/harness.ts';
import { serveCorefile } from '../support/control.ts';
import { endAllPrograms, runPortolan, servePortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

/** Clients, each on a node of its own. */
const IN_A = '127.0.0.2';
const IN_B = '127.0.0.3';
const OF_A = '10.244.1.1';
const OF_B = '10.244.2.1';
const DB = 'db.default.svc.cluster.local';

const node = (name: string, zone: string, address: string): KubernetesObject => ({
  kind: 'Node',
  metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } },
  spec: { podCIDR: '', podCIDRs: [] },
  status: { addresses: [{ type: 'InternalIP', address }] },
});

const endpoint = (address: string, zone: string) => ({
  addresses: [address],
  conditions: {},
  zone,
  hints: { forZones: [{ name: zone }] },
});

async function startApiServer(): Promise<ApiServerDouble> {
  const objects = [
    namespace('default'),
    service('db', 'None'),
    { ...slice('db-1', 'db'), endpoints: [endpoint(OF_A, 'zone-a'), endpoint(OF_B, 'zone-b')] },
    node('node-a', 'zone-a', IN_A),
    node('node-b', 'zone-b', IN_B),
  ];
  const double = await ApiServerDouble.start({ objects, protobuf: true });
  onTestFinished(() => double.stop());
  return double;
}

const SOON = { timeout: 15_000, interval: 50 };
const a = (server: DnsServer, from: string, name = DB, transport: 'udp' | 'tcp' = 'udp') =>
  askShort(server, name, 'A', { from, transport });

/** Asks for names in turn from both zones, more often than once: what is stored for one must not be given to the other. */
async function expectZones(server: DnsServer, names: readonly string[] = [DB]): Promise<void> {
  await expect.poll(() => a(server, IN_A), SOON).toBe(OF_A);
  for (const name of names)
    for (const transport of ['udp', 'tcp', 'udp'] as const) {
      expect(await a(server, IN_B, name, transport)).toBe(OF_B);
      expect(await a(server, IN_A, name, transport)).toBe(OF_A);
      expect(await a(server, '127.0.0.1', name, transport)).toBe(`${OF_A} ${OF_B}`);
    }
}

describe('portolan serve', () => {
  it('--prefer-zone follows nodes', async () => {
    const { url } = await startApiServer();
    const serving = await servePortolan(['--kube-master-url', url, '--prefer-zone']);
    await expectZones(serving);
  });

  it('--node-name is the node of all clients', async () => {
    const double = await startApiServer();
    const flags = ['--prefer-zone', '--node-name=node-b'];
    const serving = await servePortolan(['--kube-master-url', double.url, ...flags]);
    await expect.poll(() => a(serving, IN_A), SOON).toBe(OF_B);
    expect(await a(serving, '127.0.0.1')).toBe(OF_B);
    const ofNodes = double.requests.filter(({ plural }) => plural === 'nodes');
    expect(new Set(ofNodes.map(({ verb }) => verb))).toEqual(new Set(['get', 'watch']));
  });

  it('without it all clients get all endpoints, and no node is asked for', async () => {
    const double = await startApiServer();
    const serving = await servePortolan(['--kube-master-url', double.url]);
    await serving.program.heard('cluster listed');
    expect(await a(serving, IN_A)).toBe(`${OF_A} ${OF_B}`);
    expect(double.requests.some(({ plural }) => plural === 'nodes')).toBe(false);
  });

  it.each([
    ['--node-name=n', '--node-name: without --prefer-zone'],
    ['--prefer-zone', '--prefer-zone: there is no API server with nodes'],
    ['--endpoint-ranges=nodes', '--endpoint-ranges=nodes: there is no API server with nodes'],
  ])('%s with files is refused', async (flag, message) => {
    const program = runPortolan(['serve', '--example', flag]);
    const { code } = await program.exit;
    expect(code).not.toBe(0);
    expect(program.errors).toContain(message);
  });
});

it('portolan kube-dns --prefer-zone follows nodes', async () => {
  const { url } = await startApiServer();
  const server = { address: '127.0.0.1', port: await findFreePort() };
  runPortolan([
    'kube-dns',
    `--dns-bind-address=${server.address}`,
    `--dns-port=${server.port}`,
    `--healthz-port=${await findFreePort()}`,
    `--kube-master-url=${url}`,
    '--prefer-zone',
    '--endpoint-ranges=nodes,10.244.0.0/16',
  ]);
  await expect.poll(() => a(server, IN_A).catch(String), SOON).toBe(OF_A);
  await expectZones(server);
});

describe('a Corefile', () => {
  const linesFor = (url: string, ...more: readonly string[]) =>
    ['portolan {', 'prefer_zone', '}', 'kubernetes cluster.local {', `endpoint ${url}`, ...more, '}'].join(
      '\n',
    );
  const REWRITTEN = 'short.test';
  const REWRITE = `rewrite name exact ${REWRITTEN} ${DB}`;

  it.each([
    ['readers', [], ''],
    ['the chain, behind a cache', ['namespaces default'], 'cache 30'],
    ['a rewritten name, behind a cache', [], `cache 30\n${REWRITE}`],
  ])('prefers the zone of the client: %s', async (_, properties, others) => {
    const { url } = await startApiServer();
    const { port } = await serveCorefile(`${linesFor(url, ...properties)}\n${others}`);
    const server = { address: '127.0.0.1', port };
    await expectZones(server, others.includes('rewrite') ? [DB, REWRITTEN] : [DB]);
  });

  it('takes the node of all clients from its name', async () => {
    const { url } = await startApiServer();
    const lines = linesFor(url).replace('prefer_zone', 'prefer_zone node-b');
    const { port } = await serveCorefile(lines);
    const server = { address: '127.0.0.1', port };
    await expect.poll(() => a(server, IN_A), SOON).toBe(OF_B);
  });

  it('is refused with its line under -compat', async () => {
    const { path } = await makeTemporaryFolder();
    const file = join(path, 'Corefile');
    writeFileSync(file, `. {\n${linesFor('http://127.0.0.1:1')}\n}\n`);
    const program = runPortolan(['coredns', '-conf', file, '-compat=1.14']);
    expect((await program.exit).code).not.toBe(0);
    expect(`${program.output}${program.errors}`).toContain(
      "Corefile:2 - Error during parsing: Unknown directive 'portolan'",
    );
  });
});
