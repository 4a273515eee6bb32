// Builds dist/: the one entry, the code of the threads, and a bundle for all servers, loaded when one runs. The entry is split off, so
// that signal handlers stand before anything large is read. Modules of the bundle run when a server needs them: to load one large file
// takes less time than many small ones. White space is left out, which makes a fourth
// of the code; names stay, for stack traces. Runtime dependencies stay outside. Only a complete build replaces the one before.
//
// V8's code caches come last, see `code-caches/write-code-caches.mjs`; with --no-code-caches there are none.
//
// With --package, for the package: without source maps, with the notices of third parties, and with the versions of all packages.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { pagePackages } from './built-in-packages.mjs';
import { STARTED } from './code-caches/start-servers.mjs';
import { writeCodeCaches } from './code-caches/write-code-caches.mjs';
import { workspaces } from './workspaces.mjs';

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
const isForPackage = process.argv.includes('--package');
const { version, dependencies, peerDependencies } = readJson('package.json');
const fresh = `dist-${process.pid}`;

/** Names, versions, licences and licence texts of all packages that are installed with this one. */
function thirdPartyNotices() {
  const notices = Object.entries(lockOfInstalled().packages)
    .filter(
      ([path, { dev, devOptional }]) =>
        path.startsWith('node_modules/') && !dev && !devOptional && existsSync(path),
    )
    .map(([path]) => {
      const { name, version: installed, license = 'see below' } = readJson(join(path, 'package.json'));
      const texts = readdirSync(path)
        .filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
        .map((file) => readFileSync(join(path, file), 'utf8').trim());
      return `${name} ${installed} (${license})\n\n${texts.join('\n\n') || 'The package has no licence file.'}\n`;
    });
  const parts = [
    'Portolan is installed with these packages. None of them is part of its own code.\n',
    ...notices,
    'The page of portolan dashboard contains these packages.\n',
    ...formatNotices(pagePackages()),
  ];
  return parts.join(`\n${'-'.repeat(80)}\n\n`);
}

/** The lock file without the packages of this repository, which the bundles contain. */
function lockOfInstalled() {
  const lock = readJson('package-lock.json');
  const isInstalled = ([path]) =>
    !path.startsWith('packages/') && !path.startsWith('node_modules/@portolan/');
  const { workspaces: _bundled, ...root } = lock.packages[''];
  return {
    ...lock,
    packages: { ...Object.fromEntries(Object.entries(lock.packages).filter(isInstalled)), '': root },
  };
}

/** The commands that the table gives a bundle. The table loads all code late, so none of it is read here. */
async function readCommands() {
  const setup = ({ onResolve }) =>
    onResolve({ filter: /^\.|^@portolan\// }, ({ kind }) =>
      kind === 'dynamic-import' ? { external: true } : undefined,
    );
  const { outputFiles } = await build({
    entryPoints: ['packages/cli/src/command-table.ts'],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    plugins: [{ name: 'late', setup }, workspaces],
  });
  const { COMMANDS } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  return COMMANDS.filter(({ bundle }) => bundle !== undefined);
}

/** Modules with state of the process, which must be there once: a file of their own, whatever loads them. */
const SHARED = ['signals', 'outputs', 'early-ports', 'first-reader', 'cached-bundle'];
const FOLDERS = ['.', 'process', 'programs', 'servers', 'tools'];
/** The source of a module of `dist/` with the same name; undefined: it is not in `packages/cli/src/`. */
const findSource = (name) =>
  FOLDERS.map((folder) => `packages/cli/src/${folder}/${name}.ts`).find((path) => existsSync(path));
/** Commands with a bundle of their own, by its name; their modules have their names. All others are in that of the entry. */
const commands = await readCommands();
const unknown = commands.filter(({ name, bundle }) => bundle === 'server' && !STARTED.includes(name));
if (unknown.length > 0)
  throw new Error(`scripts/code-caches/start-servers.mjs starts no ${unknown.map(({ name }) => name)}`);
/** Each built by itself, split: modules by their names in `dist/`. */
const SPLIT = [
  ...['portolan', ...SHARED].map((name) => ({ [name]: findSource(name) })),
  { 'query-log': 'packages/server/src/observe/query-events/query-log-thread.ts' },
];
/** Each built as one file of CommonJS, with a code cache, and a module for each name in `dist/` that loads it. */
const CACHED = {
  reader: { reader: 'packages/kernel/src/listen/reader-thread.ts' },
  ...Object.fromEntries(
    [...new Set(commands.map(({ bundle }) => bundle))].map((own) => [own, listModules(own)]),
  ),
};

function listModules(own) {
  const names = commands.filter(({ bundle }) => bundle === own).map(({ name }) => name);
  return Object.fromEntries(names.map((name) => [name, findSource(name)]));
}

/** Leaves modules that have a file of their own out of the bundle. */
function separate(names) {
  const nameBySource = new Map(
    names.flatMap((name) => (findSource(name) ? [[resolve(findSource(name)), name]] : [])),
  );
  const setup = ({ onResolve }) =>
    onResolve({ filter: /^\..*\.ts$/ }, ({ path, resolveDir, kind }) => {
      const name = kind === 'entry-point' ? undefined : nameBySource.get(resolve(resolveDir, path));
      return name === undefined ? undefined : { path: `./${name}.js`, external: true };
    });
  return { name: 'separate', setup };
}

const OPTIONS = {
  outdir: fresh,
  bundle: true,
  platform: 'node',
  target: 'node20',
  minifyWhitespace: true,
  minifySyntax: true,
  // Stack traces name lines.
  lineLimit: 160,
  sourcemap: isForPackage ? false : 'linked',
  legalComments: 'none',
  // A bundle has the paths of packages of CommonJS: without this, and with linked packages, they would be those of the machine.
  preserveSymlinks: true,
  external: [dependencies, peerDependencies].flatMap(Object.keys),
};
const DEFINED = { PORTOLAN_VERSION: JSON.stringify(version) };
const SERVERS = Object.values(CACHED).flatMap(Object.keys);

/**
 * Modules of Node.js as objects: an import as a module would evaluate each export, and so load with `node:http` a client for the web, of
 * 7 MB.
 */
const nodeObjects = {
  name: 'node-objects',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: 'node', sideEffects: false }));
    onLoad({ filter: /^/, namespace: 'node' }, ({ path }) => ({
      contents: `module.exports=process.getBuiltinModule('${path}')`,
    }));
  },
};

function buildSplit(entryPoints) {
  const own = Object.keys(entryPoints);
  return build({
    ...OPTIONS,
    entryPoints,
    splitting: true,
    // Beside the entry: what is split off looks for `reader.js` and the examples from where it stands.
    chunkNames: '[name]-[hash]',
    format: 'esm',
    define: DEFINED,
    // Packages of CommonJS require modules of Node.js.
    banner: { js: "const require=process.getBuiltinModule('node:module').createRequire(import.meta.url);" },
    plugins: [
      separate([...SHARED, ...SERVERS].filter((name) => !own.includes(name))),
      nodeObjects,
      workspaces,
    ],
  });
}

/** Writes `NAME.cjs`, and a module for each of `modules` that loads it, as `packages/cli/src/process/cached-bundle.ts` expects them. */
async function buildCached(name, modules) {
  const contents = writeEntry(modules);
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    stdin: { contents, resolveDir: '.', sourcefile: `${name}.ts` },
    outdir: undefined,
    outfile: `${fresh}/${name}.cjs`,
    write: false,
    metafile: true,
    format: 'cjs',
    // In a script of its own `import()` needs a callback, which threads do not have. All packages can be required.
    supported: { 'dynamic-import': false },
    define: { ...DEFINED, 'import.meta.url': 'moduleUrl' },
    // Modules that are run late would each say so, and esbuild forgets some of them from build to build: all are strict by the banner.
    tsconfigRaw: { compilerOptions: { target: 'ES2023', verbatimModuleSyntax: true, alwaysStrict: false } },
    // The first line has room for the digest.
    banner: { js: `//${'0'.repeat(64)}\n(function(exports,require,module,moduleUrl){"use strict";` },
    footer: { js: '})' },
    plugins: [separate([...SHARED, ...SERVERS].filter((other) => modules[other] === undefined)), workspaces],
  });
  for (const { path, text } of outputFiles) {
    const digest = createHash('sha256').update(text).digest('hex');
    writeFileSync(path, path.endsWith('.cjs') ? text.replace(/^\/\/0+/, `//${digest}`) : text);
  }
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  const shared = SHARED.filter((other) => imports.some(({ path }) => path === `./${other}.js`));
  for (const [module, path] of Object.entries(modules))
    writeFileSync(
      `${fresh}/${module}.js`,
      await stub(name, path, shared, Object.keys(modules).length > 1 ? `['${module}']` : ''),
    );
}

/** A bundle of one module is that module. Others are required when they are wanted, with all that they import. */
function writeEntry(modules) {
  const all = Object.entries(modules);
  if (all.length === 1) return all.map(([, path]) => `export * from './${path}';`).join('');
  return `module.exports={${all.map(([module, path]) => `get '${module}'(){return require('./${path}')}`)}}`;
}

/** The module that loads a bundle, and exports what the module at `path` does. @param member how the bundle exports it; empty: by itself */
async function stub(name, path, shared, member) {
  const { metafile } = await build({
    entryPoints: [path],
    write: false,
    metafile: true,
    outdir: fresh,
    format: 'esm',
  });
  const names = Object.values(metafile.outputs).flatMap((output) => output.exports);
  const given = shared.map((other, index) => `['./${other}.js',shared${index}]`);
  const loading = `loadBundle(import.meta.url,'${name}',new Map([${given}]))${member};`;
  return [
    "import{loadBundle}from'./cached-bundle.js';",
    ...shared.map((other, index) => `import*as shared${index} from'./${other}.js';`),
    names.length === 0 ? loading : `export const{${names}}=${loading}`,
    '',
  ].join('\n');
}

/**
 * Writes the plugins of `packages/` as npm packages of their own, `plugins/@portolan/NAME`. The program finds them there by name, and each
 * can be published from there. The functions of the contract are part of each, so that none has a dependency.
 */
async function buildPlugins() {
  const names = readdirSync('packages').filter((name) => existsSync(`packages/${name}/src/plugin.ts`));
  for (const name of names) {
    const folder = `${fresh}/plugins/@portolan/${name}`;
    await build({
      ...OPTIONS,
      outdir: undefined,
      outfile: `${folder}/index.js`,
      entryPoints: [`packages/${name}/src/plugin.ts`],
      sourcemap: false,
      format: 'esm',
      plugins: [workspaces],
    });
    const { devDependencies: _bundled, ...manifest } = readJson(`packages/${name}/package.json`);
    writeFileSync(`${folder}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`);
    copyFileSync(`packages/${name}/README.md`, `${folder}/README.md`);
    copyFileSync('LICENSE', `${folder}/LICENSE`);
  }
}

function formatNotices(packages) {
  return packages.map(
    ({ name, version: used, license, text }) => `${name} ${used} (${license})\n\n${text}\n`,
  );
}

/** The page of `portolan dashboard`, for browsers. */
async function buildDashboard() {
  await build({
    entryPoints: { page: 'dashboard/main.tsx' },
    outdir: `${fresh}/dashboard`,
    bundle: true,
    minify: true,
    target: 'es2022',
    format: 'iife',
    charset: 'utf8',
    legalComments: 'none',
    tsconfig: 'dashboard/tsconfig.json',
  });
  copyFileSync('dashboard/index.html', `${fresh}/dashboard/index.html`);
  writeFileSync(`${fresh}/dashboard/LICENSES.txt`, formatNotices(pagePackages()).join('\n'));
}

/** @throws Error where a bundle has a character beyond ASCII: V8 may then hold all of it with two octets for each character */
function checkCharacters() {
  for (const file of readdirSync(fresh).filter((name) => /\.c?js$/.test(name))) {
    const [found] = /[^\n]{0,40}[\u0080-\uffff]/.exec(readFileSync(`${fresh}/${file}`, 'utf8')) ?? [];
    if (found !== undefined)
      throw new Error(`a character in ${file} must be escaped in its source: ${found}`);
  }
}

try {
  await Promise.all([
    ...SPLIT.map(buildSplit),
    buildPlugins(),
    ...Object.entries(CACHED).map(([name, modules]) => buildCached(name, modules)),
    buildDashboard(),
  ]);
  checkCharacters();
  chmodSync(`${fresh}/portolan.js`, 0o755);
  if (isForPackage) {
    writeFileSync(`${fresh}/THIRD-PARTY-NOTICES.txt`, thirdPartyNotices());
    // npm leaves it out of packages, and images are built from it.
    writeFileSync(`${fresh}/package-lock.json`, `${JSON.stringify(lockOfInstalled(), null, 2)}\n`);
  }
  if (!process.argv.includes('--no-code-caches')) {
    // The program works without, and starts slower.
    await writeCodeCaches(fresh).catch(({ message }) => console.error(`no code caches: ${message}`));
  }
  rmSync('dist', { recursive: true, force: true });
  renameSync(fresh, 'dist');
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
