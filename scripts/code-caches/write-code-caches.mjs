// Writes V8's code caches into a folder of built code, `node scripts/code-caches/write-code-caches.mjs DIST`: `BUNDLE.ARCH.cache`, which
// `packages/cli/src/process/cached-bundle.ts` reads. The same code and the same Node.js make the same octets.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { recordStarts } from './start-servers.mjs';

/** Hashes of strings are in caches. Objects have so much room, in MB, that no garbage is collected. */
const COMPILE_FLAGS = ['--random-seed=1', '--min-semi-space-size=128', '--max-semi-space-size=128'];
/** Characters of the digest on the first line of a bundle, after `//`. */
const DIGEST_LENGTH = 64;

/** @throws Error where a server does not answer */
export async function writeCodeCaches(dist) {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-code-caches-'));
  try {
    const records = await recordStarts(dist, folder);
    await Promise.all(records.map((record) => writeCache(dist, record, folder)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function writeCache(dist, { bundle, starts }, folder) {
  const file = join(dist, `${bundle}.cjs`);
  const compiled = join(folder, bundle);
  const script = fileURLToPath(new URL('compile-functions.mjs', import.meta.url));
  const child = spawn(process.execPath, [...COMPILE_FLAGS, script, file, compiled], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  // Its exit code says that it is gone.
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify(starts));
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`cannot compile ${file}: node ended with ${code}`);
  const digest = readFileSync(file, 'latin1').slice(2, 2 + DIGEST_LENGTH);
  const version = process.version.padEnd(16);
  const cache = join(dist, `${bundle}.${process.arch}.cache`);
  writeFileSync(
    `${cache}.${process.pid}`,
    Buffer.concat([Buffer.from(digest + version, 'latin1'), readFileSync(compiled)]),
  );
  renameSync(`${cache}.${process.pid}`, cache);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , dist] = process.argv;
  await writeCodeCaches(dist);
}
