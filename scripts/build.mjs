// Builds dist/: the one entry and the code of the UDP reader threads, each bundled into one file.
// Runtime dependencies stay outside the bundles: koffi is native, client-node is optional.
import { readFileSync } from 'node:fs';
import { build } from 'esbuild';

const { version, dependencies, optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

await build({
  entryPoints: { portolan: 'src/cli/portolan.ts', reader: 'src/listen/reader-thread.ts' },
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  sourcemap: 'linked',
  legalComments: 'none',
  define: { PORTOLAN_VERSION: JSON.stringify(version) },
  external: [...Object.keys(dependencies), ...Object.keys(optionalDependencies)],
  banner: { js: '#!/usr/bin/env node' },
});
