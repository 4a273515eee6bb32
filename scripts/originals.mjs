// `npm run originals`: bundles the comparison with the originals, which is TypeScript, and runs it. See test/originals/follow/main.ts.
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { workspaces } from './workspaces.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'portolan-originals-'));
try {
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const outfile = join(folder, 'main.mjs');
  const entry = join(root, 'test/originals/follow/main.ts');
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    plugins: [workspaces],
  });
  const { main } = await import(pathToFileURL(outfile).href);
  process.exitCode = main(process.argv.slice(2), root, console.log);
} finally {
  await rm(folder, { recursive: true, force: true });
}
