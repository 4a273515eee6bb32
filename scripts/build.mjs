// Builds dist/: the one entry, the code of the UDP reader threads, and the pieces that they load when they need them.
// Split, so that signal handlers stand before anything large is read. Runtime dependencies stay outside: koffi is
// native, client-node is optional. Only a build that is whole takes the place of the one before.
import { chmodSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

const { version, dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
const fresh = `dist-${process.pid}`;

try {
  await build({
    entryPoints: { portolan: 'src/cli/portolan.ts', reader: 'src/listen/reader-thread.ts' },
    outdir: fresh,
    bundle: true,
    splitting: true,
    // Beside the entry: what is split off looks for `reader.js` and the examples from where it stands.
    chunkNames: '[name]-[hash]',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    sourcemap: 'linked',
    legalComments: 'none',
    define: { PORTOLAN_VERSION: JSON.stringify(version) },
    external: [...Object.keys(dependencies), ...Object.keys(optionalDependencies)],
  });
  chmodSync(`${fresh}/portolan.js`, 0o755);
  rmSync('dist', { recursive: true, force: true });
  renameSync(fresh, 'dist');
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
