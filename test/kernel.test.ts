/**
 * How much lies behind the engine and behind a small plugin, and that the engine knows no plugin. Types count: whoever opens a file has
 * them before him too.
 */
import { readFileSync } from 'node:fs';
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
