import { parseName, toKey } from '@portolan/dns/name.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { expect, it } from 'vitest';
import type { Connection } from '../../api/connection/types.ts';
import { Kubernetes } from './kubernetes-plugin.ts';
import type { KubernetesOptions } from './options.ts';

const ZONE = toKey(parseName('cluster.local.'));
const OPTIONS: KubernetesOptions = {
  kind: 'directive',
  zones: [ZONE],
  primaryZone: ZONE,
  api: { endpoint: undefined, tls: undefined, kubeconfig: undefined, qps: 0, burst: 0, maxInflight: 0 },
  pods: 'disabled',
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
/** An API server that never answers. */
const silent: Connection = {
  kind: 'connection',
  server: 'https://192.0.2.1:6443',
  source: 'test',
  request: (_path, options) =>
    new Promise((_, refuse) =>
      options?.signal?.addEventListener('abort', () => refuse(new Error('aborted'))),
    ),
  refreshCredentials() {},
  close() {},
};
const settled = () => new Promise((resolve) => setImmediate(resolve));

it.each([
  { what: 'the first', isFirst: true, restored: NOTHING_RESTORED, timeout: 5000, waits: 5000 },
  { what: 'a changed', isFirst: false, restored: NOTHING_RESTORED, timeout: 5000, waits: 30_000 },
  { what: 'a changed', isFirst: false, restored: NOTHING_RESTORED, timeout: 40_000, waits: 40_000 },
  {
    what: 'a changed, as in CoreDNS,',
    isFirst: false,
    restored: new Set(['reload-waits'] as const),
    timeout: 5000,
    waits: 5000,
  },
])('$what Corefile with startup_timeout $timeout waits $waits ms for a silent API server', async (row) => {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const { isFirst, restored, timeout, waits } = row;
  const plugin = new Kubernetes(
    { ...OPTIONS, startupTimeout: timeout },
    {
      clock,
      log,
      isFirst,
      restored,
      ownAddresses: [],
      environment: {},
      metrics: new MetricRegistry(),
      table: new TableWriter({ readers: 1, reservation: 2 ** 26 }),
      connect: async () => silent,
      chain: () => ({ kind: 'servfail' }),
    },
  );
  let hasStarted = false;
  const started = plugin.start().then(() => {
    hasStarted = true;
  });
  await settled();
  for (let passed = 0; passed < waits - 500; passed += 500) clock.advance(500);
  await settled();
  expect(hasStarted).toBe(false);
  clock.advance(500);
  await started;
  expect(log.records.at(-1)?.message).toMatch(/unsynced Kubernetes API$/);
  await plugin.stop();
});
