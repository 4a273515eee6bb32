/**
 * A connection of HTTP/2 to a server is closed while requests are on their way, and the heap stays whole: glibc checks it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';

/** Of Debian's libc6. Without it, only a heap that is spoiled enough to end the process is seen. */
const CHECKS = `/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/libc_malloc_debug.so.0`;

it('leaves the memory of the process whole', async () => {
  const entry = await bundleThread('test/forward/closed-with-requests-process.ts');
  const checks = existsSync(CHECKS) ? { LD_PRELOAD: CHECKS, MALLOC_CHECK_: '3' } : {};
  const env = { ...process.env, ...checks };
  const { status, signal, stderr } = spawnSync(process.execPath, [fileURLToPath(entry)], {
    env,
    encoding: 'utf8',
  });
  expect([status, signal, stderr]).toEqual([0, null, '']);
});
