/**
 * Bundles a TypeScript module into a file that a worker thread can run, since threads do not go through vitest.
 */
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { workspaces } from '../../scripts/workspaces.mjs';
import { afterFile } from './after-file.ts';

/** @param entry the module, relative to the repository; the bundle goes when the test file ends */
export async function bundleThread(entry: string): Promise<URL> {
  return bundleInto(await makeFolder(), 'thread.mjs', entry);
}

/** The thread of a `BurstLoad`. */
export const bundleBurstLoad = (): Promise<URL> => bundleThread('test/support/burst-load-thread.ts');

/** The threads of a server: a reader, and beside it `query-log.mjs`. @returns the reader */
export async function bundleServerThreads(): Promise<URL> {
  const folder = await makeFolder();
  await bundleInto(folder, 'query-log.mjs', 'packages/server/src/observe/query-events/query-log-thread.ts');
  return bundleInto(folder, 'reader.mjs', 'packages/kernel/src/listen/reader-thread.ts');
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portolan-thread-'));
  afterFile(() => rm(folder, { recursive: true }));
  await symlink(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

async function bundleInto(folder: string, name: string, entry: string): Promise<URL> {
  const outfile = join(folder, name);
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    plugins: [workspaces],
  });
  return pathToFileURL(outfile);
}
