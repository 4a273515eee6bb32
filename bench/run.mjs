// `npm run bench`: bundles the measurements, which are TypeScript, into a folder of their own and runs them from there.
// What stands in dist/ is what they measure.
import { rmSync } from 'node:fs';
import { mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { workspaces } from '../scripts/workspaces.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = [
  './main.ts',
  './api-server-process.ts',
  './collect-on-signal.ts',
  '../test/healthz/hostile-connections-thread.ts',
  '../test/soak/listen/any-flood-thread.ts',
  '../test/soak/listen/hostile-tcp-thread.ts',
];
const folder = await mkdtemp(join(tmpdir(), 'portolan-bench-'));

// However this ends: no process that was started goes on, and the folder goes.
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
// The certificates of the API server's double, which it looks for beside its own code.
await symlink(join(root, 'test', 'api-server', 'tls'), join(folder, 'tls'));
await build({
  entryPoints: modules.map((path) => ({
    in: fileURLToPath(import.meta.resolve(path)),
    out: basename(path, '.ts'),
  })),
  outdir: folder,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  packages: 'external',
  plugins: [workspaces],
});
const { main } = await import(pathToFileURL(join(folder, 'main.mjs')).href);
process.exitCode = await main(process.argv.slice(2), { root, folder });
