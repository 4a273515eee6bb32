// The suite is the suffix of a test file: `x.soak.test.ts` takes tens of seconds, for faults and outages, `x.alone.test.ts` takes the whole
// machine or measures what comes of it, `x.nightly.test.ts` runs with `SOAK=long`, which `.ci/nightly` sets.
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { sharedOptions } from './vitest.config.ts';

/** Those that take minutes begin first, so that no worker is left with one at the end. */
const LONGEST = /\/(?:archive|former-plans|images|overload|past-roles|seats|sudden-loss)\.\w+\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.test(moduleId);
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
          include: [
            'test/**/*.soak.test.ts',
            ...(process.env['SOAK'] === 'long' ? ['test/**/*.nightly.test.ts'] : []),
          ],
          // More than there are cores at the least: these files wait for processes and networks.
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...sharedOptions,
          name: 'alone',
          include: ['test/**/*.alone.test.ts'],
          fileParallelism: false,
          // Recorded cases rest for a good part of their time.
          maxConcurrency: 7,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
