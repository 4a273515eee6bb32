/**
 * A name of a type, an interface, a class or an enum stands for one thing: a search for it finds one definition.
 *
 * The published contract of plugins (`packages/plugin/`) is left out: its words are those of its readers.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

interface Source {
  readonly path: string;
  readonly text: string;
}

const DEFINITION = /^(?:export )?(?:declare |abstract )*(?:interface|type|class|enum) (\w+)/gm;

function readSources(folder: string): readonly Source[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(
      (path) => path.endsWith('.ts') && !/\.test\.ts$|\.d\.ts$|(^|\/)(testing|node_modules)\//.test(path),
    )
    .map((path) => ({ path: join(folder, path), text: readFileSync(join(folder, path), 'utf8') }));
}

/** `Name: path, path`, for each name that several files define. */
function findRepeatedNames(sources: readonly Source[]): readonly string[] {
  const paths = new Map<string, Set<string>>();
  for (const { path, text } of sources)
    for (const [, name = ''] of text.matchAll(DEFINITION)) {
      const known = paths.get(name) ?? new Set();
      paths.set(name, known.add(path));
    }
  return [...paths]
    .filter(([, files]) => files.size > 1)
    .map(([name, files]) => `${name}: ${[...files].join(', ')}`);
}

it('defines each name of a type once', () => {
  const sources = readdirSync('packages')
    .map((name) => join('packages', name))
    .flatMap(readSources);
  expect(sources.length).toBeGreaterThan(1000);
  expect(findRepeatedNames(sources)).toEqual([]);
});

it('finds a name that two files define, whether they export it or not', () => {
  const sources = [
    {
      path: 'a.ts',
      text: 'export interface Entry {}\ntype Row<Key> = Key;\nfunction f() {\n  type Inner = 1;\n}\n',
    },
    { path: 'b.ts', text: 'type Entry = 1;\nabstract class Row {}\nclass Rows {}\ntype Inner = 1;\n' },
    {
      path: 'c.ts',
      text: "import type { Entry } from './a.ts';\nexport type { Entry };\nexport class Rows {}\n",
    },
  ];
  expect(findRepeatedNames(sources)).toEqual(['Entry: a.ts, b.ts', 'Row: a.ts, b.ts', 'Rows: b.ts, c.ts']);
});
