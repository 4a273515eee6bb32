/**
 * The rules of the source that a machine can check: imports between packages, no import cycles, file sizes, fragments, opening comments,
 * files that comments name.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  findPackage,
  isTestSupport,
  PROGRAM_PACKAGES,
  readSourceFiles,
  resolveImport,
  type SourceFile,
} from './support/sources.ts';

const MAX_LINES = 600;
/** A shorter file that a single file of its folder imports is a part of that file. */
const FRAGMENT_LINES = 40;
/** Such files that stay, with the reason. */
const KEPT_FRAGMENTS: ReadonlyMap<string, string> = new Map([
  [
    'packages/server/src/observe/query-events/selection.ts',
    'what a log leaves out, whatever reads the events',
  ],
]);

/** What `node_modules` of the root has for all tests. */
const TEST_TOOLS: ReadonlySet<string> = new Set(['vitest', 'fast-check']);
/** Packages that users add. */
const ADDED_BY_USERS: ReadonlySet<string> = new Set(['@kubernetes/client-node']);

/** A graph as edges from each node to others. */
type Graph = ReadonlyMap<string, ReadonlySet<string>>;

interface Module extends SourceFile {
  readonly lines: number;
  /** Paths from the root; those of packages from elsewhere as they stand. */
  readonly imports: readonly string[];
}

function readModules(): Module[] {
  return readSourceFiles().map(({ path, text }) => ({
    path,
    text,
    lines: text.split('\n').length - 1,
    imports: [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, target = '']) =>
      resolveImport(path, target),
    ),
  }));
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
    const isBeside = dirname(path) === dirname(importer.path) && !isOfPlugin(path);
    const isLoadedLate = importer.text.includes(`import('./${basename(path)}')`);
    const isTooMuch = importer.lines + lines >= MAX_LINES;
    return isBeside && !isLoadedLate && !isTooMuch ? [`${path} -> ${importer.path}`] : [];
  });
}

/** Whether it lies in the folder of a plugin. */
function isOfPlugin(path: string): boolean {
  return /^packages\/(?:plugins\/src|\w+\/src\/plugins)\/[^/]+\//.test(path);
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

/** What a package.json names, in one of its lists. */
function readDependencies(name: string, list: 'dependencies' | 'devDependencies'): readonly string[] {
  const manifest = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8')) as {
    readonly [List in typeof list]?: Readonly<Record<string, string>>;
  };
  return Object.keys(manifest[list] ?? {});
}

/** The packages that files import, without those that all tests have from the root. */
function findImported(files: readonly Module[], name: string): ReadonlySet<string> {
  const imported = files.flatMap(({ text }) =>
    [...text.matchAll(/(?:from|import\()\s*'(@[\w-]+\/[\w-]+|[\w-]+)[^':]*'/g)].map(([, each = '']) => each),
  );
  return new Set(imported.filter((each) => each !== `@portolan/${name}` && !TEST_TOOLS.has(each)));
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

/** `file: name`, for each TypeScript file that a comment names and that is nowhere. */
function findMissing(files: readonly SourceFile[], paths: readonly string[]): readonly string[] {
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm)]
      .flatMap(([comment]) => [...comment.matchAll(/(?<![\w/.*-])(?:\.{1,2}\/)*([\w/.-]+\.ts)\b/g)])
      .filter(([, name = '']) => !paths.some((each) => `/${each}`.endsWith(`/${name}`)))
      .map(([, name]) => `${path}: ${name}`),
  );
}

function isSourceFile(target: string): boolean {
  return target.endsWith('.ts') && findPackage(target) !== undefined;
}

const all = readModules();
/** What the program and its test support are made of. */
const modules = all.filter(({ path }) => !path.endsWith('.test.ts'));
const programModules = modules.filter(({ path }) => !isTestSupport(path));

describe('the source', () => {
  it('has packages', () => {
    expect(modules.length).toBeGreaterThan(1000);
    expect(PROGRAM_PACKAGES).toContain('kernel');
  });

  it('has its packages in the documentation, in an order in which each depends only on those before it', () => {
    const page = readFileSync('docs/explanation/architecture.md', 'utf8');
    const documented = [...page.matchAll(/^\| \[`([\w-]+)`\]/gm)].map(([, name = '']) => name);
    expect(documented.toSorted()).toEqual(PROGRAM_PACKAGES.toSorted());
    const breaches = documented.flatMap((name, index) =>
      [...readDependencies(name, 'dependencies'), ...readDependencies(name, 'devDependencies')]
        // Tests of any package may use what tests share; the program may not.
        .filter(
          (each) => each !== '@portolan/testing' || readDependencies(name, 'dependencies').includes(each),
        )
        .filter((each) => documented.indexOf(each.replace('@portolan/', '')) >= index)
        .map((each) => `${name} -> ${each}`),
    );
    expect(breaches).toEqual([]);
  });

  it.each(PROGRAM_PACKAGES.filter((name) => name !== 'plugins'))(
    'shows in the README of %s each of its folders',
    (name) => {
      const page = readFileSync(`packages/${name}/README.md`, 'utf8');
      const folders = readdirSync(`packages/${name}/src`, { withFileTypes: true })
        .filter((each) => each.isDirectory() && each.name !== 'testing')
        .map((each) => each.name);
      expect(folders.filter((folder) => !page.includes(`](src/${folder}`))).toEqual([]);
    },
  );

  it.each(PROGRAM_PACKAGES)('imports in %s what its package.json names, and no more', (name) => {
    const files = all.filter(({ path }) => findPackage(path) === name);
    const isProgram = ({ path }: Module) => programModules.some((module) => module.path === path);
    const imported = findImported(files.filter(isProgram), name);
    const named = readDependencies(name, 'dependencies');
    const unlisted = [...imported].filter((each) => !named.includes(each) && !ADDED_BY_USERS.has(each));
    expect(unlisted).toEqual([]);
    const inTests = findImported(files, name);
    const further = readDependencies(name, 'devDependencies');
    expect([...inTests].filter((each) => !named.includes(each) && !further.includes(each))).toEqual([]);
    const required = files.map(({ text }) => text).join();
    const unused = [...named, ...further].filter(
      (each) => !inTests.has(each) && !required.includes(`'${each}'`),
    );
    expect(unused).toEqual([]);
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
    const ofTest = all.filter(({ imports }) => imports.some((target) => target.startsWith('test/')));
    expect(ofTest.map(({ path }) => path)).toEqual([]);
    const ofTesting = programModules.filter(({ imports }) => imports.some(isTestSupport));
    expect(ofTesting.map(({ path }) => path)).toEqual([]);
  });

  it('runs servers and holds processes in one place', () => {
    const cli = modules.filter(({ path }) => findPackage(path) === 'cli');
    const those = (pattern: RegExp) => cli.filter(({ text }) => pattern.test(text)).map(({ path }) => path);
    expect(those(/\bnew Server\(/)).toEqual(['packages/cli/src/process/server-process.ts']);
    expect(those(/\bsetInterval\(/)).toEqual(['packages/cli/src/process/hold-process.ts']);
  });

  it('lets only socket/ use koffi, and only table/ and records/ know the layout of the table', () => {
    const kernel = 'packages/kernel/src/';
    const users = modules.filter(({ imports }) => imports.includes('koffi')).map(({ path }) => path);
    expect(users.length).toBeGreaterThan(0);
    expect(users.filter((path) => !path.startsWith(`${kernel}socket/`))).toEqual([]);
    const outside = modules.filter(
      ({ path, imports }) =>
        imports.includes(`${kernel}table/layout.ts`) &&
        !path.startsWith(`${kernel}table/`) &&
        !path.startsWith(`${kernel}records/`),
    );
    expect(outside.map(({ path }) => path)).toEqual([]);
  });

  it(`keeps files under ${MAX_LINES} lines`, () => {
    const long = modules.filter(({ lines }) => lines >= MAX_LINES);
    expect(long.map(({ path, lines }) => `${path}: ${lines}`)).toEqual([]);
  });

  it('has no fragments', () => {
    const fragments = findFragments(all.filter(({ path }) => !isTestSupport(path)));
    const isKept = (fragment: string) => KEPT_FRAGMENTS.has(fragment.split(' -> ')[0] ?? '');
    expect(fragments.filter((fragment) => !isKept(fragment))).toEqual([]);
    expect(fragments.filter(isKept)).toHaveLength(KEPT_FRAGMENTS.size);
  });

  it('finds fragments', () => {
    const made = (path: string, lines: number, ...imports: readonly string[]): Module => {
      const text = imports.map((target) => `import('./${basename(target)}')`).join();
      return { path, lines, imports, text: path.endsWith('late.ts') ? text : '' };
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
      made('packages/plugins/src/any/plugin.ts', 90, 'packages/plugins/src/any/any.ts'),
      made('packages/plugins/src/any/any.ts', 9),
    ]);
    expect(found).toEqual(['base/b.ts -> base/a.ts']);
  });

  it('opens every module with a comment that says what it is for', () => {
    const silent = modules.filter(({ text }) => !/^(#!.*\n)?\/\*\*\n \* \S/.test(text));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it('names in comments only files that there are', () => {
    const others = ['test', 'scripts', 'packages/plugin'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
    );
    expect(findMissing(all, [...all.map(({ path }) => path), ...others])).toEqual([]);
  });

  it('finds names of files that are missing', () => {
    const text = "/** As in `b.ts` and ../c.ts. */\nread('d.ts');\n// See x/e.ts, and `*.test.ts`.\n";
    expect(findMissing([{ path: 'a.ts', text }], ['x/b.ts', 'y/e.ts'])).toEqual([
      'a.ts: c.ts',
      'a.ts: x/e.ts',
    ]);
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
