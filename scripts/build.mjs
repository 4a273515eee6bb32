// Builds dist/: the one entry, the code of the threads, and a bundle for each kind of server, loaded when it runs. Split, so that
// signal handlers stand before anything large is read. Code that several servers use is in each of their bundles: to load a few
// large files takes less time than the many small ones that all of them could share. White space is left out, which makes a fourth
// of the code; names stay, for stack traces. Runtime dependencies stay outside. Only a complete build replaces the one before.
//
// With --package, for the package: without source maps, and with the notices of third parties.
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
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

/** The commands that the table gives a bundle. The table loads all code late, so none of it is read here. */
async function readCommands() {
  const setup = ({ onResolve }) =>
    onResolve({ filter: /^\./ }, ({ kind }) => (kind === 'dynamic-import' ? { external: true } : undefined));
  const { outputFiles } = await build({
    entryPoints: ['src/cli/command-table.ts'],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    plugins: [{ name: 'late', setup }],
  });
  const { COMMANDS } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  return COMMANDS.filter(({ bundle }) => bundle !== undefined);
}

/** Modules with state of the process, which must be there once: a file of their own, whatever loads them. */
const SHARED = ['signals', 'first-reader'];
/** Commands with a bundle of their own, by its name; their modules have their names. All others are in that of the entry. */
const commands = await readCommands();
const SERVERS = [...new Set(commands.map(({ bundle }) => bundle))].map((own) =>
  commands.filter(({ bundle }) => bundle === own).map(({ name }) => name),
);
/** Each built by itself: modules of `src/cli`, or paths below `src/`, by their names in `dist/`. */
const BUNDLES = [
  { portolan: 'cli/portolan' },
  { reader: 'listen/reader-thread' },
  { 'query-log': 'observe/query-events/query-log-thread' },
  ...SHARED.map((name) => ({ [name]: `cli/${name}` })),
  ...SERVERS.map((names) => Object.fromEntries(names.map((name) => [name, `cli/${name}`]))),
];

/** Leaves modules that have a file of their own out of the bundle. */
function separate(names) {
  const filter = new RegExp(`^\\./(${names.join('|')})\\.ts$`);
  const place = resolve('src/cli');
  const setup = ({ onResolve }) =>
    onResolve({ filter }, ({ path, resolveDir, kind }) =>
      kind === 'entry-point' || resolveDir !== place
        ? undefined
        : { path: path.replace(/\.ts$/, '.js'), external: true },
    );
  return { name: 'separate', setup };
}

function bundle(entries) {
  const own = Object.keys(entries);
  const others = [...SHARED, ...SERVERS.flat()].filter((name) => !own.includes(name));
  return build({
    entryPoints: Object.fromEntries(own.map((name) => [name, `src/${entries[name]}.ts`])),
    outdir: fresh,
    bundle: true,
    splitting: true,
    // Beside the entry: what is split off looks for `reader.js` and the examples from where it stands.
    chunkNames: '[name]-[hash]',
    platform: 'node',
    target: 'node20',
    format: 'esm',
    minifyWhitespace: true,
    minifySyntax: true,
    // Stack traces name lines.
    lineLimit: 160,
    sourcemap: isForPackage ? false : 'linked',
    legalComments: 'none',
    define: { PORTOLAN_VERSION: JSON.stringify(version) },
    external: [dependencies, optionalDependencies, peerDependencies].flatMap(Object.keys),
    plugins: [separate(others)],
  });
}

/** @throws Error where a bundle has a character beyond ASCII: V8 may then hold all of it with two octets for each character */
function checkCharacters() {
  for (const file of readdirSync(fresh).filter((name) => name.endsWith('.js'))) {
    const [found] = /[^\n]{0,40}[\u0080-\uffff]/.exec(readFileSync(`${fresh}/${file}`, 'utf8')) ?? [];
    if (found !== undefined)
      throw new Error(`a character in ${file} must be escaped in its source: ${found}`);
  }
}

try {
  await Promise.all(BUNDLES.map(bundle));
  checkCharacters();
  chmodSync(`${fresh}/portolan.js`, 0o755);
  if (isForPackage) writeFileSync(`${fresh}/THIRD-PARTY-NOTICES.txt`, thirdPartyNotices());
  rmSync('dist', { recursive: true, force: true });
  renameSync(fresh, 'dist');
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
