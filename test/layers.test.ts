/**
 * The rules of the source that a machine can check: imports between layers, no import cycles, file sizes, fragments, opening comments.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/** A layer imports only from layers before it. */
const LAYERS = [
  'base',
  'reasons',
  'wire',
  'deviations',
  'socket',
  'table',
  'records',
  'zone',
  'kube',
  'forward',
  'sources',
  'chain',
  'listen',
  'corefile',
  'contract',
  'plugins',
  'config',
  'observe',
  'engine',
  'server',
  'roles',
  'cli',
];
/** Imports that the order allows and the design does not. */
const FORBIDDEN: readonly (readonly [string, string])[] = [
  ['table', 'socket'],
  ['records', 'socket'],
  ['zone', 'socket'],
  ['kube', 'socket'],
  ['sources', 'socket'],
  ['listen', 'kube'],
  ['listen', 'zone'],
  ['listen', 'sources'],
];

const MAX_LINES = 600;
/** A shorter file that a single file of its folder imports is a part of that file. */
const FRAGMENT_LINES = 40;
/** Such files that stay, with the reason. */
const KEPT_FRAGMENTS: ReadonlyMap<string, string> = new Map([
  ['observe/query-events/selection.ts', 'what a log leaves out, whatever reads the events'],
]);

/** A graph as edges from each node to others. */
type Graph = ReadonlyMap<string, ReadonlySet<string>>;

interface Module {
  readonly path: string;
  readonly layer: string;
  readonly text: string;
  readonly lines: number;
  /** Relative ones as paths below src/, others as they stand. */
  readonly imports: readonly string[];
}

function readModules(): Module[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => {
      const text = readFileSync(join('src', path), 'utf8');
      const imports = [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, target = '']) =>
        target.startsWith('.') ? normalize(join(dirname(path), target)) : target,
      );
      return { path, layer: layerOf(path), text, lines: text.split('\n').length - 1, imports };
    });
}

function layerOf(path: string): string {
  return path.split('/')[0] ?? '';
}

/**
 * `path -> importer`, for each short file that only one file needs. Left out are parts of a plugin's folder, files that tests import,
 * those that are loaded late, and those that would make their importer too long.
 */
function findFragments(all: readonly Module[]): readonly string[] {
  const importers = new Map<string, Module[]>();
  for (const module of all)
    for (const target of module.imports) importers.set(target, [...(importers.get(target) ?? []), module]);
  return all.flatMap(({ path, lines }) => {
    const [importer, another] = importers.get(path) ?? [];
    if (importer === undefined || another !== undefined || lines >= FRAGMENT_LINES) return [];
    const isBeside = dirname(path) === dirname(importer.path) && !/^plugins\/[^/]+\//.test(path);
    const isLoadedLate = importer.text.includes(`import('./${basename(path)}')`);
    const isTooMuch = importer.lines + lines >= MAX_LINES;
    return isBeside && !isLoadedLate && !isTooMuch ? [`${path} -> ${importer.path}`] : [];
  });
}

function isInTesting(path: string): boolean {
  return path.split('/').includes('testing');
}

/** The nodes that lie in circles, as sets that reach each other (Tarjan's strongly connected components). */
function findCircles(graph: Graph): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): number => {
    order.set(node, order.size);
    let low = order.size - 1;
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low === order.get(node)) {
      const circle = stack.splice(stack.indexOf(node)).sort();
      if (circle.length > 1) circles.push(circle);
    }
    return low;
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return circles;
}

function fileGraph(modules: readonly Module[]): Graph {
  return new Map(modules.map(({ path, imports }) => [path, new Set(imports.filter(isSourceFile))]));
}

/** Folders with the folders that their own files import from; a folder and its subfolder are two. */
function folderGraph(modules: readonly Module[]): Graph {
  const graph = new Map<string, Set<string>>();
  for (const { path, imports } of modules) {
    const from = dirname(path);
    const targets = graph.get(from) ?? new Set();
    graph.set(from, targets);
    for (const folder of imports.filter(isSourceFile).map(dirname)) if (folder !== from) targets.add(folder);
  }
  return graph;
}

function isSourceFile(target: string): boolean {
  return target.endsWith('.ts') && !target.startsWith('..');
}

const all = readModules();
/** What the program and its test support are made of. */
const modules = all.filter(({ path }) => !path.endsWith('.test.ts'));
const programModules = modules.filter(({ path }) => !isInTesting(path));

describe('the source', () => {
  it('has modules, all of them in a known layer', () => {
    expect(modules.length).toBeGreaterThan(50);
    expect(modules.filter(({ layer }) => !LAYERS.includes(layer)).map(({ path }) => path)).toEqual([]);
  });

  it('has its layers in the documentation, in their order', () => {
    const page = readFileSync('docs/explanation/architecture.md', 'utf8');
    const documented = [...page.matchAll(/^\| `(\w+)\/` \|/gm)].map(([, layer]) => layer);
    expect(documented).toEqual(LAYERS);
  });

  it('lets a layer import only from layers above it', () => {
    const breaches = modules.flatMap((module) =>
      module.imports
        .filter((target) => target.endsWith('.ts'))
        .filter((target) => {
          const layer = layerOf(target);
          return (
            !LAYERS.includes(layer) ||
            LAYERS.indexOf(layer) > LAYERS.indexOf(module.layer) ||
            FORBIDDEN.some(([from, to]) => from === module.layer && to === layer)
          );
        })
        .map((target) => `${module.path} -> ${target}`),
    );
    expect(breaches).toEqual([]);
  });

  it('lets a folder of kube/ import only from those before it', () => {
    const folders = ['objects', 'protobuf', 'names', 'records', 'api', 'dialects', 'publish'];
    const placeOf = (path: string): number => folders.indexOf(path.split('/')[1] ?? '');
    const breaches = programModules
      .filter(({ layer }) => layer === 'kube')
      .flatMap(({ path, imports }) =>
        imports
          .filter((target) => target.startsWith('kube/') && placeOf(target) > placeOf(path))
          .map((target) => `${path} -> ${target}`),
      );
    expect(breaches).toEqual([]);
  });

  it('has no circles between files', () => {
    expect(findCircles(fileGraph(programModules))).toEqual([]);
  });

  it('has no circles between folders, inside layers too', () => {
    expect(findCircles(folderGraph(programModules))).toEqual([]);
  });

  it('finds circles', () => {
    const edges = { a: ['b', 'd'], b: ['c'], c: ['a'], d: ['e'], e: [], f: ['g'], g: ['f', 'e'] };
    const graph = new Map(Object.entries(edges).map(([from, targets]) => [from, new Set(targets)]));
    expect(findCircles(graph)).toEqual([
      ['a', 'b', 'c'],
      ['f', 'g'],
    ]);
  });

  it('imports nothing of test/, and the program nothing of a testing/ folder', () => {
    const ofTest = all.filter(({ imports }) => imports.some((target) => target.startsWith('../test/')));
    expect(ofTest.map(({ path }) => path)).toEqual([]);
    const ofTesting = programModules.filter(({ imports }) => imports.some(isInTesting));
    expect(ofTesting.map(({ path }) => path)).toEqual([]);
  });

  it('runs servers and holds processes in one place', () => {
    const cli = modules.filter(({ layer }) => layer === 'cli');
    const those = (pattern: RegExp) => cli.filter(({ text }) => pattern.test(text)).map(({ path }) => path);
    expect(those(/\bnew Server\(/)).toEqual(['cli/process/server-process.ts']);
    expect(those(/\bsetInterval\(/)).toEqual(['cli/process/hold-process.ts']);
  });

  it('lets only socket/ use koffi, and only table/ and records/ know the layout of the table', () => {
    const users = modules.filter(({ imports }) => imports.includes('koffi')).map(({ layer }) => layer);
    expect([...new Set(users)]).toEqual(['socket']);
    const outside = modules.filter(
      ({ layer, imports }) => !['table', 'records'].includes(layer) && imports.includes('table/layout.ts'),
    );
    expect(outside.map(({ path }) => path)).toEqual([]);
  });

  it(`keeps files under ${MAX_LINES} lines`, () => {
    const long = modules.filter(({ lines }) => lines >= MAX_LINES);
    expect(long.map(({ path, lines }) => `${path}: ${lines}`)).toEqual([]);
  });

  it('has no fragments', () => {
    const fragments = findFragments(all.filter(({ path }) => !isInTesting(path)));
    const isKept = (fragment: string) => KEPT_FRAGMENTS.has(fragment.split(' -> ')[0] ?? '');
    expect(fragments.filter((fragment) => !isKept(fragment))).toEqual([]);
    expect(fragments.filter(isKept)).toHaveLength(KEPT_FRAGMENTS.size);
  });

  it('finds fragments', () => {
    const made = (path: string, lines: number, ...imports: readonly string[]): Module => {
      const text = imports.map((target) => `import('./${basename(target)}')`).join();
      return { path, lines, layer: 'base', imports, text: path.endsWith('late.ts') ? text : '' };
    };
    const found = findFragments([
      made('base/a.ts', 100, 'base/b.ts', 'base/shared.ts', 'base/long.ts', 'wire/far.ts', 'base/tested.ts'),
      made('base/b.ts', 39),
      made('base/shared.ts', 9),
      made('base/long.ts', 40),
      made('wire/far.ts', 9),
      made('base/c.ts', 595, 'base/shared.ts', 'base/large.ts'),
      made('base/large.ts', 9),
      made('base/tested.ts', 9),
      made('base/tested.test.ts', 9, 'base/tested.ts'),
      made('base/late.ts', 9, 'base/command.ts'),
      made('base/command.ts', 9),
      made('plugins/any/plugin.ts', 90, 'plugins/any/any.ts'),
      made('plugins/any/any.ts', 9),
    ]);
    expect(found).toEqual(['base/b.ts -> base/a.ts']);
  });

  it('opens every module with a comment that says what it is for', () => {
    const silent = modules.filter(({ text }) => !/^(#!.*\n)?\/\*\*\n \* \S/.test(text));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it('has no files named after nothing, and no unfinished or silenced code', () => {
    expect(modules.filter(({ path }) => /utils?|helpers?|misc/.test(path)).map(({ path }) => path)).toEqual(
      [],
    );
    const unfinished =
      /\b(TODO|FIXME|XXX|HACK|not (yet )?implemented|placeholder)\b|@ts-(ignore|expect-error)|biome-ignore/;
    expect(modules.filter(({ text }) => unfinished.test(text)).map(({ path }) => path)).toEqual([]);
  });
});
