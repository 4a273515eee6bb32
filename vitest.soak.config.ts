import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { sharedOptions, soakFiles } from './vitest.config.ts';

/** Files that take the whole machine, or measure what comes of it. */
const ALONE = [
  'test/healthz/hostile-connections.test.ts',
  'test/node-cache/upgrade.test.ts',
  'test/promises/*.test.ts',
  'test/soak/coredns/**/*.test.ts',
  'test/soak/flood/*.test.ts',
  'test/soak/hostile-packets/*.test.ts',
  'test/soak/listen/*.test.ts',
  'test/soak/loss/*.test.ts',
  'test/soak/plan-changes/plan-changes.test.ts',
  'test/soak/rolling-restart/*.test.ts',
  'test/soak/table/torture.test.ts',
  'test/table/torture.test.ts',
];

/** Files that `.ci/nightly` runs, and `npm run soak` with `SOAK=long`: each builds an image or more, and archive.test.ts builds one. */
const NIGHTLY = process.env['SOAK'] === 'long' ? [] : ['test/image/images.test.ts'];

/** Those that take minutes begin first, so that no worker is left with one at the end. */
const LONGEST = ['archive.test.ts', 'former-plans.test.ts', 'images.test.ts', 'seats.test.ts'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some((name) => moduleId.endsWith(`/${name}`));
    return [...files.filter(isLong), ...(await super.sort(files.filter((file) => !isLong(file))))];
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...sharedOptions,
          name: 'beside others',
          include: soakFiles,
          exclude: [...ALONE, ...NIGHTLY],
          // More than there are cores at the least: these files wait for processes and networks.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...sharedOptions,
          name: 'alone',
          include: ALONE,
          fileParallelism: false,
          // Recorded cases rest for a good part of their time.
          maxConcurrency: 7,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
