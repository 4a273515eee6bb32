/**
 * How much lies behind the engine and behind a small plugin, and that the engine knows no plugin. Types count: whoever opens a file has
 * them before him too.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

const IMPORT = /^(?:import|export) [^;']*?from '(\.[^']+|@portolan\/plugin)'/gm;
const CONTRACT = '../packages/plugin/index.d.ts';

/** A module of `src` and all that it imports, as paths below `src`. Late imports are left out. */
function collectImports(path: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(path)) return found;
  found.add(path);
  for (const [, target = ''] of readFileSync(join('src', path), 'utf8').matchAll(IMPORT)) {
    const isContract = target === '@portolan/plugin';
    // Declarations name the code beside them.
    const resolved = normalize(join(dirname(path), target)).replace(/\.js$/, '.d.ts');
    collectImports(isContract ? CONTRACT : resolved, found);
  }
  return found;
}

const engine = [...collectImports('engine/engine.ts')];

it('is an engine that one person can hold in the head', () => {
  expect(engine.length).toBeGreaterThan(100);
  expect(engine.length).toBeLessThan(250);
});

it('is an engine that knows no plugin, no cluster and no Corefile', () => {
  const others = /^(?:plugins|kube|sources|corefile|observe|server)\//;
  expect(engine.filter((path) => others.test(path))).toEqual([]);
});

it('compares no name of a plugin in the engine', () => {
  const compared = engine.filter((path) =>
    /\bname (?:===|!==) '|\.name (?:===|!==) '|names?\.(?:has|includes)\('/.test(
      readFileSync(join('src', path), 'utf8'),
    ),
  );
  expect(compared.filter((path) => path.startsWith('engine/') || path.startsWith('chain/'))).toEqual([]);
});

it('compares no name of a plugin where servers run and explain', () => {
  const plugins = new Set(readdirSync('src/plugins'));
  const folders = [
    'chain',
    'contract',
    'engine',
    'forward',
    'listen',
    'observe',
    'reasons',
    'server',
    'table',
  ];
  const compared = [...folders, 'cli/process', 'cli/tools'].flatMap((folder) =>
    readdirSync(join('src', folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .flatMap((file) => findComparedNames(readFileSync(join('src', folder, file), 'utf8'), plugins)),
  );
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
  expect(collectImports('plugins/whoami/plugin.ts').size).toBeLessThan(70);
});

it.each(['whoami/plugin', 'minimal/plugin', 'header/plugin', 'any/any', 'chaos/chaos'])(
  'has %s written in the contract of plugins from outside alone',
  (name) => {
    const own = name.split('/')[0] ?? '';
    const others = [...collectImports(`plugins/${name}.ts`)].filter(
      (path) => !path.startsWith(`plugins/${own}/`) && !/^(?:\.\.\/packages\/plugin|wire|base)\//.test(path),
    );
    expect(others).toEqual([]);
  },
);
