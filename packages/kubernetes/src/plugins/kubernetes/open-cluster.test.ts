import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { expect, it } from 'vitest';
import { openCluster } from './open-cluster.ts';
import type { KubernetesApi } from './options.ts';

const NONE: KubernetesApi = {
  endpoint: undefined,
  tls: undefined,
  kubeconfig: undefined,
  qps: 0,
  burst: 0,
  maxInflight: 0,
};

const open = (api: Partial<KubernetesApi>) =>
  openCluster({ ...NONE, ...api }, { environment: {}, clock: new ManualClock() });

it('names what is missing in the words of CoreDNS', async () => {
  await expect(open({})).rejects.toThrow(
    'plugin/kubernetes: unable to load in-cluster configuration, ' +
      'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined',
  );
  await expect(open({ kubeconfig: { path: '/nosuch/file', context: 'x' } })).rejects.toThrow(
    'plugin/kubernetes: stat /nosuch/file: no such file or directory',
  );
  const endpoint = 'http://127.0.0.1:1';
  const tls = { certificate: '/nosuch/a', key: '/nosuch/b', authorities: '/nosuch/c' };
  const unable = (what: string, path: string) =>
    `unable to read ${what} ${path} for  due to open ${path}: no such file or directory`;
  await expect(open({ endpoint, tls })).rejects.toThrow(
    `plugin/kubernetes: invalid configuration: [${unable('client-cert', tls.certificate)}, ` +
      `${unable('client-key', tls.key)}, ${unable('certificate-authority', tls.authorities)}]`,
  );
  const path = await (await makeTemporaryFolder()).write('file', 'x');
  await expect(open({ endpoint, tls: { ...tls, certificate: path, authorities: path } })).rejects.toThrow(
    `plugin/kubernetes: invalid configuration: ${unable('client-key', tls.key)}`,
  );
});

it('opens the endpoint that is named', async () => {
  const connection = await open({ endpoint: 'http://127.0.0.1:1' });
  expect(connection.server).toBe('http://127.0.0.1:1');
  connection.close();
});
