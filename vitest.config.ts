import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Options of both projects and of the soak suite. */
export const sharedOptions = {
  setupFiles: ['test/support/seed.ts'],
  // Only a test that fails takes so long; a machine that is busy with other work makes all of them slow.
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

/** The contract of plugins, which plugins and the engine import by its name. */
export const resolution = {
  alias: {
    '@portolan/plugin/conformance': resolve('packages/plugin/conformance.js'),
    '@portolan/plugin': resolve('packages/plugin/index.js'),
  },
};

/** Files of the soak suite: those that take the whole machine, or tens of seconds for faults and outages. */
export const soakFiles = [
  'test/soak/**/*.test.ts',
  'test/chart/chart.test.ts',
  'test/chart/lifecycle.test.ts',
  'test/cluster/any-order.test.ts',
  'test/cluster/large-service.test.ts',
  'test/cluster/records.test.ts',
  'test/cluster/same-answer.test.ts',
  'test/compare/**/*.test.ts',
  'test/coredns/autopath.test.ts',
  'test/coredns/loop.test.ts',
  'test/coredns/outside-plugins.test.ts',
  'test/coredns/portolan.test.ts',
  'test/coredns/reader-counts.test.ts',
  'test/coredns/reader-search.test.ts',
  'test/corefile/command.test.ts',
  'test/dashboard/pages.test.ts',
  'test/deploy/autoscaler.test.ts',
  'test/deploy/command.test.ts',
  'test/differential/same-reading.test.ts',
  'test/differential/same-transport.test.ts',
  'test/dnsmasq-options/acceptance.test.ts',
  'test/dnsmasq/control.test.ts',
  'test/docs/run-blocks.test.ts',
  'test/end-to-end/autoscaler.test.ts',
  'test/engine/names-of-ours.test.ts',
  'test/etcd/faults.test.ts',
  'test/etcd/foreign-words.test.ts',
  'test/etcd/recorded-coredns.test.ts',
  'test/etcd/secured.test.ts',
  'test/faults-explained/faults-explained.test.ts',
  'test/faults-explained/node-faults.test.ts',
  'test/faults/**/*.test.ts',
  'test/forward/streams.test.ts',
  'test/healthz/hostile-connections.test.ts',
  'test/image/archive.test.ts',
  'test/image/images.test.ts',
  'test/kube2sky/kube2sky.test.ts',
  'test/limits/confinement.test.ts',
  'test/limits/descriptors.test.ts',
  'test/list-watch/recovery.test.ts',
  'test/listen/more-readers.test.ts',
  'test/listen/table.test.ts',
  'test/listen/udp.test.ts',
  'test/local-data/changing-files.test.ts',
  'test/local-data/side-by-side.test.ts',
  'test/monitoring/alerts.test.ts',
  'test/monitoring/otlp.test.ts',
  'test/node-cache/addon.test.ts',
  'test/node-cache/hardened.test.ts',
  'test/node-cache/leftovers.test.ts',
  'test/node-cache/network.test.ts',
  'test/node-cache/path.test.ts',
  'test/node-cache/programs.test.ts',
  'test/node-cache/rendering.test.ts',
  'test/node-cache/traffic.test.ts',
  'test/node-cache/upgrade.test.ts',
  'test/plan-changes/plan-changes.test.ts',
  'test/pod/pod-one.test.ts',
  'test/pod/pod-three.test.ts',
  'test/pod/rbac.test.ts',
  'test/promises/**/*.test.ts',
  'test/resolver/extended-errors.test.ts',
  'test/resolver/hidden-types.test.ts',
  'test/resolver/reader-forwarding.test.ts',
  'test/resolver/reader-path.test.ts',
  'test/resolver/odd-streams.test.ts',
  'test/resolver/reader-streams.test.ts',
  'test/search-lists/libraries.test.ts',
  'test/server/api-server.test.ts',
  'test/server/cache-handover.test.ts',
  'test/server/closed-outputs.test.ts',
  'test/server/control.test.ts',
  'test/server/descriptions.test.ts',
  'test/server/manifests.test.ts',
  'test/server/pid-files.test.ts',
  'test/server/stopping.test.ts',
  'test/sign/sign.test.ts',
  'test/skydns/skydns.test.ts',
  'test/swap/swap.test.ts',
  'test/table/torture.test.ts',
  'test/transfer/nsd.test.ts',
  'test/transfer/tsig.test.ts',
];

export default defineConfig({
  test: {
    // Three even on two cores: scenarios wait for processes most of the time.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    projects: [
      // Unit tests share one module graph, which takes a third of the processor time of one graph for each file.
      {
        resolve: resolution,
        test: {
          ...sharedOptions,
          name: 'unit',
          include: ['src/**/*.test.ts', 'packages/*/src/**/*.test.ts'],
          isolate: false,
        },
      },
      {
        resolve: resolution,
        test: {
          ...sharedOptions,
          name: 'scenarios',
          include: ['test/**/*.test.ts'],
          exclude: soakFiles,
        },
      },
    ],
  },
});
