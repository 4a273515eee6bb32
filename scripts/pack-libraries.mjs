// Packs the packages that other programs import, @portolan/dns and @portolan/plugin: pack-libraries.mjs FOLDER
//
// It publishes nothing. @portolan/dns is compiled to JavaScript with declarations: `import { parseName } from '@portolan/dns/name'`.
// REPOSITORY is the public address, without which the packages name no repository and `npm publish` makes no provenance.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('usage: pack-libraries.mjs FOLDER');
  process.exit(2);
}
const { REPOSITORY } = process.env;
const { version } = readPackage('.');
const stage = mkdtempSync(join(tmpdir(), 'portolan-libraries-'));
try {
  const plugin = readPackage('packages/plugin');
  packPlugin(plugin);
  packDns(`^${plugin.version}`);
} finally {
  rmSync(stage, { recursive: true });
}

function packPlugin(description) {
  const source = 'packages/plugin';
  const isOfPackage = (file) => /\.(js|d\.ts)$/.test(file);
  mkdirSync(join(stage, 'plugin'));
  for (const file of readdirSync(source).filter(isOfPackage))
    cpSync(join(source, file), join(stage, 'plugin', file));
  pack('plugin', description);
}

function packDns(plugin) {
  const target = join(stage, 'dns');
  execFileSync('node_modules/.bin/tsc', ['--project', 'packages/dns', '--outDir', target], {
    stdio: 'inherit',
  });
  const { private: _, ...description } = readPackage('packages/dns');
  pack('dns', {
    ...description,
    version,
    exports: { './*': { types: './*.d.ts', default: './*.js' } },
    files: ['*.js', '*.d.ts'],
    sideEffects: false,
    dependencies: { '@portolan/plugin': plugin },
  });
}

function pack(name, description) {
  const target = join(stage, name);
  const source = `packages/${name}`;
  const origin = REPOSITORY && {
    repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory: source },
    publishConfig: { access: 'public', provenance: true },
  };
  cpSync('LICENSE', join(target, 'LICENSE'));
  writeFileSync(join(target, 'README.md'), writeReadme(source));
  writeFileSync(
    join(target, 'package.json'),
    `${JSON.stringify({ ...description, ...origin }, undefined, 2)}\n`,
  );
  execFileSync('npm', ['pack', '--silent', '--pack-destination', resolve(folder)], { cwd: target });
}

/** Links of the page lead to the repository; without one only their text stays. */
function writeReadme(source) {
  const page = readFileSync(join(source, 'README.md'), 'utf8');
  return page.replaceAll(/\[([^\]]+)\]\((?!https?:|#)([^)]+)\)/g, (_, text, path) =>
    REPOSITORY ? `[${text}](${REPOSITORY}/blob/v${version}/${join(source, path)})` : text,
  );
}

function readPackage(place) {
  return JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
}
