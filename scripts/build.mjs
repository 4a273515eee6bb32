// Builds dist/: the one entry, the code of the threads, and the pieces that they load when they need them. Split, so that signal
// handlers stand before anything large is read. Runtime dependencies stay outside. Only a complete build replaces the one before.
//
// With --package, for the package: without source maps, and with the notices of third parties.
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
const isForPackage = process.argv.includes('--package');
const { version, dependencies, optionalDependencies, peerDependencies } = readJson('package.json');
const fresh = `dist-${process.pid}`;

/** Names, versions, licences and licence texts of all packages that are installed with this one. */
function thirdPartyNotices() {
  const notices = Object.entries(readJson('package-lock.json').packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional && existsSync(path))
    .map(([path]) => {
      const { name, version: installed, license = 'see below' } = readJson(join(path, 'package.json'));
      const texts = readdirSync(path)
        .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
        .map((file) => readFileSync(join(path, file), 'utf8').trim());
      return `${name} ${installed} (${license})\n\n${texts.join('\n\n') || 'The package has no licence file.'}\n`;
    });
  const head = 'Portolan is installed with these packages. None of them is part of its own code.\n';
  return [head, ...notices].join(`\n${'-'.repeat(80)}\n\n`);
}

try {
  await build({
    entryPoints: {
      portolan: 'src/cli/portolan.ts',
      reader: 'src/listen/reader-thread.ts',
      'query-log': 'src/observe/query-events/query-log-thread.ts',
    },
    outdir: fresh,
    bundle: true,
    splitting: true,
    // Beside the entry: what is split off looks for `reader.js` and the examples from where it stands.
    chunkNames: '[name]-[hash]',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    sourcemap: isForPackage ? false : 'linked',
    legalComments: 'none',
    define: { PORTOLAN_VERSION: JSON.stringify(version) },
    external: [dependencies, optionalDependencies, peerDependencies].flatMap(Object.keys),
  });
  chmodSync(`${fresh}/portolan.js`, 0o755);
  if (isForPackage) writeFileSync(`${fresh}/THIRD-PARTY-NOTICES.txt`, thirdPartyNotices());
  rmSync('dist', { recursive: true, force: true });
  renameSync(fresh, 'dist');
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
