import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Options of both projects and of the soak suite. */
export const sharedOptions = {
  setupFiles: ['test/support/seed.ts'],
  // Only a test that fails takes so long; a machine that is busy with other work makes all of them slow.
  testTimeout: 60_000,
  hookTimeout: 60_000,
};

/** Files of the soak suite: those that take the whole machine, or tens of seconds for faults and outages. */
export const soakFiles = [
  'test/soak/**/*.test.ts',
  'test/faults/**/*.test.ts',
  'test/cluster/large-service.test.ts',
  'test/end-to-end/autoscaler.test.ts',
  'test/etcd/foreign-words.test.ts',
  'test/etcd/faults.test.ts',
  'test/etcd/secured.test.ts',
  'test/healthz/hostile-connections.test.ts',
  'test/image/images.test.ts',
  'test/kube2sky/kube2sky.test.ts',
  'test/local-data/changing-files.test.ts',
  'test/local-data/side-by-side.test.ts',
  'test/node-cache/addon.test.ts',
  'test/node-cache/hardened.test.ts',
  'test/node-cache/leftovers.test.ts',
  'test/node-cache/network.test.ts',
  'test/node-cache/rendering.test.ts',
  'test/node-cache/traffic.test.ts',
  'test/node-cache/upgrade.test.ts',
  'test/pod/pod-three.test.ts',
  'test/server/api-server.test.ts',
  'test/server/pid-files.test.ts',
  'test/server/stopping.test.ts',
  'test/skydns/skydns.test.ts',
  'test/table/torture.test.ts',
];

export default defineConfig({
  test: {
    // Three even on two cores: scenarios wait for processes most of the time.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    projects: [
      // Unit tests share one module graph, which takes a third of the processor time of one graph for each file.
      { test: { ...sharedOptions, name: 'unit', include: ['src/**/*.test.ts'], isolate: false } },
      {
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
