/**
 * How much lies behind the engine and behind a small plugin, and that the engine knows no plugin. Types count: whoever opens a file has
 * them before him too.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readProgramFiles, resolveImport } from './support/sources.ts';

const IMPORT = /^(?:import|export) [^;']*?from '((?:\.|@portolan\/)[^']+)'/gm;

/** A module and all that it imports, as paths from the root. Late imports are left out. */
function collectImports(path: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(path)) return found;
  found.add(path);
  // Declarations name the code beside them.
  for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(IMPORT))
    collectImports(resolveImport(path, target).replace(/\.js$/, '.d.ts'), found);
  return found;
}

const engine = [...collectImports('packages/kernel/src/engine/engine.ts')];

it('is an engine that one person can hold in the head', () => {
  expect(engine.length).toBeGreaterThan(100);
  expect(engine.length).toBeLessThan(250);
});

it('is an engine that knows no plugin, no cluster and no Corefile', () => {
  expect(engine.filter((path) => !/^packages\/(?:kernel|dns|plugin)\//.test(path))).toEqual([]);
});

it('compares no name of a plugin in the engine', () => {
  const compared = engine.filter((path) =>
    /\bname (?:===|!==) '|\.name (?:===|!==) '|names?\.(?:has|includes)\('/.test(readFileSync(path, 'utf8')),
  );
  expect(compared.filter((path) => /\/kernel\/src\/(?:engine|chain)\//.test(path))).toEqual([]);
});

it('compares no name of a plugin where servers run and explain', () => {
  const plugins = new Set(
    ['plugins/src', 'kubernetes/src/plugins', 'etcd/src/plugins'].flatMap((folder) =>
      readdirSync(`packages/${folder}`),
    ),
  );
  expect(plugins).toContain('kubernetes');
  const places =
    /^packages\/(?:kernel\/src|server\/src|frontends\/src\/[\w-]+\/run|ops\/src\/(?:control|dashboard)|cli\/src\/(?:process|tools))\//;
  const files = readProgramFiles().filter(({ path }) => places.test(path));
  expect(files.length).toBeGreaterThan(500);
  const compared = files.flatMap(({ text }) => findComparedNames(text, plugins));
  expect(compared).toEqual([]);
});

/** Texts of comparisons of a plugin's or a handler's name, or of sets of such names. */
function findComparedNames(text: string, plugins: ReadonlySet<string>): readonly string[] {
  const patterns = [
    /\b(?:name|plugin|handler|wanted)\b (?:===|!==) '([\w-]+)'/g,
    /\b(?:plugins|names|handlers)\.(?:has|includes)\('([\w-]+)'\)/g,
    /new Set\(\['([\w-]+)'/g,
    /\bstart\w*\('([\w-]+)'\)/g,
  ];
  return patterns
    .flatMap((pattern) => [...text.matchAll(pattern)])
    .flatMap(([comparison, name = '']) => (plugins.has(name) ? comparison : []));
}

it('finds comparisons of names', () => {
  const texts = [
    "handler === 'kubernetes'",
    "new Set(['dnstap', 'log'])",
    "names.includes('cache')",
    "name !== 'x'",
  ];
  expect(
    texts.flatMap((text) => findComparedNames(text, new Set(['kubernetes', 'dnstap', 'cache']))),
  ).toEqual(["handler === 'kubernetes'", "new Set(['dnstap'", "names.includes('cache')"]);
});

it('shows a small plugin only what it needs', () => {
  expect(collectImports('packages/plugins/src/whoami/plugin.ts').size).toBeLessThan(70);
});

it.each(['whoami/plugin', 'minimal/plugin', 'header/plugin', 'any/any', 'chaos/chaos'])(
  'has %s written in the contract of plugins from outside alone',
  (name) => {
    const own = name.split('/')[0] ?? '';
    const others = [...collectImports(`packages/plugins/src/${name}.ts`)].filter(
      (path) => !path.startsWith(`packages/plugins/src/${own}/`) && !/^packages\/(?:plugin|dns)\//.test(path),
    );
    expect(others).toEqual([]);
  },
);
