import { defineConfig } from 'vitest/config';
import { sharedOptions, soakFiles } from './vitest.config.ts';

export default defineConfig({
  // One file at a time: each of them takes the whole machine.
  test: { ...sharedOptions, include: soakFiles, fileParallelism: false },
});
