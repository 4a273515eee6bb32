/**
 * `multicluster` of `kubernetes` in `portolan coredns`: the zone of a cluster set follows the API server, and the cluster's own
 * zone does not depend on it.
 */
import { presentRecord } from '@portolan/dns/present.ts';
import { RCODE } from '@portolan/dns/types.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { servedByDefault } from '../api-server/catalog.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const IMPORTS_PATHS = ['v1beta1', 'v1alpha1'].map(
  (version) => `multicluster.x-k8s.io/${version}/serviceimports`,
);
const PORTS = [{ name: 'http', port: 80, protocol: 'TCP' }];

const serviceImport = (name: string, ips?: readonly string[]): KubernetesObject => ({
  kind: 'ServiceImport',
  metadata: { name, namespace: 'shop' },
  spec: ips === undefined ? { type: 'Headless', ports: PORTS } : { type: 'ClusterSetIP', ips, ports: PORTS },
});
const slice = (name: string, of: string, cluster: string, address: string): KubernetesObject => ({
  kind: 'EndpointSlice',
  metadata: {
    name,
    namespace: 'shop',
    labels: {
      'multicluster.kubernetes.io/service-name': of,
      'multicluster.kubernetes.io/source-cluster': cluster,
    },
  },
  addressType: 'IPv4',
  ports: PORTS,
  endpoints: [{ addresses: [address], hostname: 'db-0' }],
});
const OBJECTS: readonly KubernetesObject[] = [
  { kind: 'Namespace', metadata: { name: 'shop' } },
  {
    kind: 'Service',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1'], ports: PORTS },
  },
];

async function start(objects: readonly KubernetesObject[], served: readonly string[]) {
  const double = await ApiServerDouble.start({ objects, serves: served });
  onTestFinished(() => double.stop());
  const folder = await makeTemporaryFolder();
  const port = await findFreePort();
  const kubeconfig = await folder.write(
    'kubeconfig',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'c' } }],
      clusters: [{ name: 'c', cluster: { server: double.url } }],
    }),
  );
  const conf = await folder.write(
    'Corefile',
    `.:${port} {\n bind 127.0.0.1\n kubernetes cluster.local clusterset.local in-addr.arpa {\n kubeconfig ${kubeconfig}\n multicluster clusterset.local\n startup_timeout 200ms\n }\n}\n`,
  );
  const program = runPortolan(['coredns', '-conf', conf]);
  await waitUntil('the banner', () => program.output.includes('linux/') || program.ended !== undefined);
  return { server: { address: '127.0.0.1', port }, double };
}

async function answer(
  server: DnsServer,
  name: string,
  type: 'A' | 'SRV' | 'PTR',
): Promise<readonly string[]> {
  const { header, answers } = await ask(server, name, type);
  return header.rcode === RCODE.NOERROR
    ? answers.map((record) => presentRecord(record).split(' ').slice(4).join(' '))
    : [`rcode ${header.rcode}`];
}

async function follows(
  server: DnsServer,
  name: string,
  type: 'A' | 'SRV' | 'PTR',
  expected: string,
): Promise<void> {
  await vi.waitFor(async () => expect(await answer(server, name, type)).toEqual([expected]), 30_000);
}

it.each(IMPORTS_PATHS)('answers for what is imported by %s, and follows its changes', async (path) => {
  const imported = [
    serviceImport('cart', ['10.42.0.1']),
    serviceImport('db'),
    slice('db-west', 'db', 'west', '10.1.0.1'),
  ];
  const { server, double } = await start([...OBJECTS, ...imported], [...servedByDefault, path]);
  await follows(server, 'cart.shop.svc.clusterset.local.', 'A', '10.42.0.1');
  await follows(server, 'cart.shop.svc.cluster.local.', 'A', '10.96.0.1');
  await follows(server, 'db-0.west.db.shop.svc.clusterset.local.', 'A', '10.1.0.1');
  const target = '0 100 80 db-0.west.db.shop.svc.clusterset.local.';
  await follows(server, '_http._tcp.db.shop.svc.clusterset.local.', 'SRV', target);
  await follows(server, 'db.shop.svc.cluster.local.', 'A', `rcode ${RCODE.NXDOMAIN}`);
  // An address of another cluster has no name here.
  await follows(server, '1.0.1.10.in-addr.arpa.', 'PTR', `rcode ${RCODE.NXDOMAIN}`);
  await follows(server, '1.0.96.10.in-addr.arpa.', 'PTR', 'cart.shop.svc.cluster.local.');
  double.put(serviceImport('cart', ['10.42.0.2']));
  double.put(slice('db-west', 'db', 'west', '10.1.0.9'));
  await follows(server, 'cart.shop.svc.clusterset.local.', 'A', '10.42.0.2');
  await follows(server, 'db-0.west.db.shop.svc.clusterset.local.', 'A', '10.1.0.9');
});

it('answers for the own cluster where the API server has no imports', async () => {
  const { server } = await start(OBJECTS, servedByDefault);
  await follows(server, 'cart.shop.svc.cluster.local.', 'A', '10.96.0.1');
  await follows(server, 'none.shop.svc.cluster.local.', 'A', `rcode ${RCODE.NXDOMAIN}`);
  await follows(server, 'cart.shop.svc.clusterset.local.', 'A', `rcode ${RCODE.SERVFAIL}`);
});
