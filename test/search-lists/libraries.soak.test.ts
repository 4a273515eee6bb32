/**
 * The libraries of this machine walk as recorded: glibc, musl and Go, each asked for the names of `walks.jsonl`.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { RESOLVER_LIBRARIES, type ResolverLibrary } from '@portolan/server/reasons/search-walk.ts';
import { describe, expect } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { itWithTool } from '../support/tools.ts';
import { readWalks } from './walk.ts';

const run = promisify(execFile);
const sourceAt = (name: string) => fileURLToPath(new URL(name, import.meta.url));
// Without it Go would use the C library.
const env = { ...process.env, CGO_ENABLED: '0' };

/** How to build the look-up with each library. */
const BUILDS: Readonly<Record<ResolverLibrary, readonly [string, (program: string) => string[]]>> = {
  glibc: ['gcc', (program) => ['-o', program, sourceAt('look-up.c')]],
  musl: ['musl-gcc', (program) => ['-static', '-o', program, sourceAt('look-up.c')]],
  go: ['go', (program) => ['build', '-o', program, sourceAt('look-up.go')]],
};

describe.each(RESOLVER_LIBRARIES)('%s', (library) => {
  const [tool, words] = BUILDS[library];
  itWithTool([tool, 'unshare', 'ip'], `${library} walks as recorded`, async () => {
    const { path } = await makeTemporaryFolder();
    const program = join(path, 'look-up');
    await run(tool, words(program), { env });
    const recorder = fileURLToPath(await bundleThread('test/search-lists/walk-process.ts'));
    const walks = readWalks();
    const given = [path, JSON.stringify(walks), program];
    const { stdout } = await run('unshare', ['-rnm', process.execPath, recorder, ...given]);
    expect(JSON.parse(stdout)).toEqual(walks.map(({ asked }) => asked[library]));
  });
});
