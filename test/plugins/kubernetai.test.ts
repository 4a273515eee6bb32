/**
 * `kubernetai` in `portolan coredns`: two clusters with the same zone, one behind the other.
 */
import { presentRecord } from '@portolan/dns/present.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const service = (name: string, clusterIP: string): KubernetesObject => ({
  kind: 'Service',
  metadata: { name, namespace: 'shop' },
  spec: { type: 'ClusterIP', clusterIP, clusterIPs: [clusterIP], ports: [{ port: 80 }] },
});

async function startCluster(...services: readonly KubernetesObject[]): Promise<ApiServerDouble> {
  const namespace = { kind: 'Namespace', metadata: { name: 'shop' } };
  const double = await ApiServerDouble.start({ objects: [namespace, ...services] });
  onTestFinished(() => double.stop());
  return double;
}

it('answers from both clusters, and follows both', async () => {
  const one = await startCluster(service('cart', '10.1.0.1'));
  const two = await startCluster(service('cart', '10.2.0.1'), service('desk', '10.2.0.2'));
  const folder = await makeTemporaryFolder();
  const port = await findFreePort();
  const conf = await folder.write(
    'Corefile',
    `.:${port} {\n bind 127.0.0.1\n kubernetai cluster.local {\n endpoint ${one.url}\n fallthrough\n }\n kubernetai cluster.local {\n endpoint ${two.url}\n }\n}\n`,
  );
  const program = runPortolan(['coredns', '-conf', conf]);
  await waitUntil('the banner', () => program.output.includes('linux/'));
  const addresses = async (name: string): Promise<readonly string[]> =>
    (await ask({ address: '127.0.0.1', port }, `${name}.shop.svc.cluster.local.`, 'A')).answers.map(
      presentRecord,
    );
  expect(await addresses('cart')).toEqual(['cart.shop.svc.cluster.local. 5 IN A 10.1.0.1']);
  expect(await addresses('desk')).toEqual(['desk.shop.svc.cluster.local. 5 IN A 10.2.0.2']);
  one.put(service('desk', '10.1.0.2'));
  await vi.waitFor(
    async () => expect(await addresses('desk')).toEqual(['desk.shop.svc.cluster.local. 5 IN A 10.1.0.2']),
    30_000,
  );
  two.put(service('lamp', '10.2.0.3'));
  await vi.waitFor(async () => expect(await addresses('lamp')).toHaveLength(1), 30_000);
});
