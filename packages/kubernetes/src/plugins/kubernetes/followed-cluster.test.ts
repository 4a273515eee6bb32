/** What the cluster of a Corefile takes over from the settings of its server. */

import { parseName, toKey } from '@portolan/dns/name.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { expect, it } from 'vitest';
import { FollowedCluster } from './followed-cluster.ts';
import type { KubernetesOptions } from './options.ts';

const CLUSTER = toKey(parseName('cluster.local.'));

it.each([
  [[], 1],
  [['reverse-of-special-addresses'], 2],
] as const)('with %s restored, %i of a pod and a metadata service have reverse names', (restored, named) => {
  const options: KubernetesOptions = {
    kind: 'directive',
    zones: [CLUSTER, toKey(parseName('in-addr.arpa.'))],
    primaryZone: CLUSTER,
    pods: 'disabled',
    api: { endpoint: undefined, tls: undefined, kubeconfig: undefined, qps: 0, burst: 0, maxInflight: 0 },
    endpointPodNames: false,
    namespaces: [],
    namespaceLabels: undefined,
    labels: undefined,
    ttl: 5,
    hasEndpoints: true,
    ignoresEmptyService: false,
    zonal: false,
    multicluster: [],
    fallthrough: [],
    startupTimeout: 5000,
  };
  const { cluster } = new FollowedCluster(options, {
    clock: new ManualClock(),
    log: silentLog,
    metrics: new MetricRegistry(),
    restored: new Set(restored),
    table: new TableWriter({ readers: 0, reservation: 64 * 2 ** 20, seed: 4711 }),
    ownAddresses: [],
    environment: {},
  });
  const addresses = ['10.244.0.1', '169.254.169.254'].map((address) => ({ address, hostname: undefined }));
  cluster.endpoints.upsert({
    kind: 'Endpoints',
    namespace: 'shop',
    name: 'web-1',
    service: 'web',
    groups: [{ addresses, ports: [] }],
  });
  expect(cluster.state().addresses).toBe(named);
  cluster.stop();
});
