import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Options of both projects and of the soak suite. */
export const sharedOptions = {
  setupFiles: ['test/support/seed.ts'],
  // Only a test that fails takes so long; a machine that is busy with other work makes all of them slow.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // As `waitUntil`: sooner than a test, so that what failed is said.
  expect: { poll: { timeout: 30_000 } },
};

export default defineConfig({
  test: {
    // Three even on two cores: scenarios wait for processes most of the time.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    projects: [
      // Unit tests share one module graph, which takes a third of the processor time of one graph for each file.
      {
        test: {
          ...sharedOptions,
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts'],
          isolate: false,
        },
      },
      {
        test: {
          ...sharedOptions,
          name: 'scenarios',
          include: ['test/**/*.test.ts'],
          // Those of the soak suite; see vitest.soak.config.ts.
          exclude: ['test/**/*.{soak,alone,nightly}.test.ts'],
        },
      },
    ],
  },
});
