/**
 * A folder that is removed after the test, or after all tests of a file.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

export interface TemporaryFolder {
  readonly path: string;
  /** @returns the full path of the file; creates missing folders */
  write(name: string, content: string | Buffer): Promise<string>;
}

/** @param atEnd when to remove the folder: `afterFile` in a `beforeAll`, else with the test */
export async function makeTemporaryFolder(
  atEnd: (remove: () => Promise<void>) => void = onTestFinished,
): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'portolan-test-'));
  atEnd(() => rm(path, { recursive: true, force: true }));
  return {
    path,
    async write(name, content) {
      const file = join(path, name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
      return file;
    },
  };
}
