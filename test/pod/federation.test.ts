/**
 * A cluster of a federation: a service with local endpoints has a local answer, any other an alias to the zone and region of a
 * node.
 */

import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { ask, askShort } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { formatAnswers } from '@portolan/testing/client/format-answers.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { changeConfigMap } from './config-map.ts';
import { readGoldenCluster, SERVED_WITHOUT_SLICES } from './pod.ts';
import { untilProbes } from './probes.ts';
import { startExternalServer } from './upstream.ts';

const CART = 'cart.shop.fed CNAME cart.shop';
const FEDERATIONS = 'fed=federation.test,other=other.test';

let apiServer: ApiServerDouble;
let upstream: string;

beforeEach(async () => {
  apiServer = await ApiServerDouble.start({ objects: readGoldenCluster(), serves: SERVED_WITHOUT_SLICES });
  onTestFinished(() => apiServer.stop());
  ({ address: upstream } = await startExternalServer('192.0.2.1', onTestFinished));
});
afterEach(endAllPrograms);

function node(name: string, labels: Readonly<Record<string, string>>): KubernetesObject {
  return { kind: 'Node', metadata: { name, labels } };
}

function configure(federations: string | undefined): void {
  const upstreamNameservers = JSON.stringify([upstream]);
  changeConfigMap(apiServer, { upstreamNameservers, ...(federations === undefined ? {} : { federations }) });
}

async function startKubeDns(...flags: readonly string[]): Promise<DnsServer & { program: Program }> {
  const server = { address: '127.0.0.1', port: await findFreePort() };
  const health = await findFreePort();
  const program = runPortolan([
    'kube-dns',
    `--dns-bind-address=${server.address}`,
    `--dns-port=${server.port}`,
    `--healthz-port=${health}`,
    `--kube-master-url=${apiServer.url}`,
    ...flags,
  ]);
  await untilProbes({ readiness: `http://127.0.0.1:${health}/readiness` }, 'healthy', {
    alive: () => {
      if (program.ended !== undefined) throw new Error(program.output + program.errors);
    },
  });
  return { ...server, program };
}

const SOON = { timeout: 15_000, interval: 50 };
const at = async (server: DnsServer, name: string) =>
  formatAnswers(await ask(server, `${name}.svc.cluster.local`, 'A')).map((line) =>
    line.replaceAll('.svc.cluster.local.', ''),
  );

it('names of the federation lead here where there are endpoints, and else to the zone and region', async () => {
  apiServer.put(
    node('node-1', {
      'failure-domain.beta.kubernetes.io/zone': 'zone-a',
      'failure-domain.beta.kubernetes.io/region': 'region-b',
    }),
  );
  configure(FEDERATIONS);
  const server = await startKubeDns('--config-map=kube-dns');
  await expect
    .poll(() => at(server, 'cart.shop.fed'), SOON)
    .toEqual(['cart.shop.fed CNAME cart.shop', 'cart.shop A 10.96.10.10']);
  const elsewhere = (name: string, domain: string) => {
    const target = `${name}.svc.zone-a.region-b.${domain}.`;
    return [`${name} CNAME ${target}`, `${target} A 192.0.2.1`];
  };
  // Without endpoints, and without a service of that name.
  expect(await at(server, 'lonely.shop.fed')).toEqual(elsewhere('lonely.shop.fed', 'federation.test'));
  expect(await at(server, 'nobody.shop.other')).toEqual(elsewhere('nobody.shop.other', 'other.test'));
  expect(await askShort(server, 'cart.shop.none.svc.cluster.local', 'A')).toBe('NXDOMAIN');
  // A headless one has its own addresses.
  expect(await at(server, 'db.data.fed')).toEqual(
    expect.arrayContaining(['db.data.fed CNAME db.data', 'db.data A 10.244.1.20', 'db.data A 10.244.2.20']),
  );
});

it('endpoints, labels of nodes and the federations themselves may change', async () => {
  apiServer.put(node('node-1', {}));
  apiServer.put(node('node-2', { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' }));
  configure('fed=federation.test');
  const server = await startKubeDns('--config-map=kube-dns');
  const target = (domain: string, place: string) =>
    `cart.shop.fed CNAME cart.shop.fed.svc.${place}.${domain}.`;
  const told = async () => (await at(server, 'cart.shop.fed'))[0];
  await expect.poll(told, SOON).toBe(CART);
  apiServer.delete('Endpoints', 'cart', 'shop');
  await expect.poll(told, SOON).toBe(target('federation.test', 'z.r'));
  configure('fed=elsewhere.test');
  await expect.poll(told, SOON).toBe(target('elsewhere.test', 'z.r'));
  configure('Fed=no domain');
  configure(undefined);
  await expect.poll(told, SOON).toBeUndefined();
});

it('without the right to see nodes the rest is served, and the log says what is missing', async () => {
  apiServer.access = {
    rules: {
      admin: [
        { groups: [''], resources: ['services', 'endpoints'], verbs: ['list', 'watch'] },
        { groups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
        { groups: [''], resources: ['configmaps'], verbs: ['get', 'watch'] },
      ],
    },
  };
  configure(FEDERATIONS);
  const server = await startKubeDns('--config-map=kube-dns');
  await expect.poll(async () => (await at(server, 'cart.shop.fed'))[0], SOON).toBe(CART);
  expect(await askShort(server, 'cart.shop.svc.cluster.local', 'A')).toBe('10.96.10.10');
  expect(await askShort(server, 'nobody.shop.fed.svc.cluster.local', 'A')).toBe('SERVFAIL');
  const refused = apiServer.requests.filter(({ status }) => status === 403);
  expect(new Set(refused.map(({ plural }) => plural))).toEqual(new Set(['nodes']));
  expect(server.program.errors).toMatch(/nodes is forbidden: User .* cannot (?:list|watch)/);
});

it('the flag of old says the same', async () => {
  apiServer.put(node('node-1', { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' }));
  const server = await startKubeDns('--federations=fed=federation.test', `--nameservers=${upstream}`);
  const target = 'nobody.shop.fed.svc.z.r.federation.test.';
  await expect
    .poll(() => at(server, 'nobody.shop.fed'), SOON)
    .toEqual([`nobody.shop.fed CNAME ${target}`, `${target} A 192.0.2.1`]);
});
