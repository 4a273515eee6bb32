import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // Many tests run processes against each other; on a machine that others use too, one may be starved once.
    retry: process.env['CI'] === undefined ? 0 : 1,
  },
});
