/**
 * Tables of words that are indexed with untrusted words must be Maps, or have a null prototype: a plain object also has `constructor`.
 *
 * The test checks the text of the sources, not their types. It finds objects of the type `Record<string, …>`, by any alias, that
 * are written as a literal, or that a variable indexes without a previous `Object.hasOwn`.
 */
import { expect, it } from 'vitest';
import { readProgramFiles, type SourceFile } from './support/sources.ts';

const WORD_RECORD = String.raw`(?:Partial<|Readonly<)*(?:Record<\s*string\s*,|\{\s*(?:readonly\s+)?\[\w+:\s*string\]:)`;

/** Names of types that are such records. */
function listAliases(sources: readonly SourceFile[]): readonly string[] {
  const alias = new RegExp(String.raw`\btype (\w+)(?:<[^=]*>)? =\s*${WORD_RECORD}`, 'g');
  return [...new Set(sources.flatMap(({ text }) => [...text.matchAll(alias)].map(([, name = '']) => name)))];
}

/** `path:line: code`, for each use that a foreign word may break. */
function findWordTables(sources: readonly SourceFile[]): readonly string[] {
  const types = [WORD_RECORD, ...listAliases(sources).map((name) => String.raw`${name}\b`)].join('|');
  const annotated = new RegExp(String.raw`(?<name>#?\w+)\??:\s*(?:${types})`, 'g');
  // `=>` of a function in the type is no beginning of a value.
  const literal = new RegExp(
    String.raw`\b(?:const|let|readonly|static) #?\w+:\s*(?:${types})(?:[^=;{]|=>)*?=\s*\{(?!\s*__proto__: null)`,
    'g',
  );
  return sources.flatMap((source) => {
    const code = withoutComments(source.text);
    const names = new Set([...code.matchAll(annotated)].map(({ groups }) => groups?.['name'] ?? ''));
    const found = [...code.matchAll(literal)].map(({ index }) => index);
    for (const { 0: access, index, groups } of code.matchAll(/(?<table>#?\w+)\[(?<key>[^\]\n]+)\]/g)) {
      const { table = '', key = '' } = groups ?? {};
      const isFixed = /^(?:'[^']*'|"[^"]*"|\d+)$/.test(key);
      const before = code.slice(Math.max(0, index - 200), index);
      const isOwn = before.includes(`Object.hasOwn(${table}, ${key})`);
      if (names.has(table) && !isFixed && !isOwn && !isDeclaration(code, index + access.length))
        found.push(index);
    }
    found.push(...[...code.matchAll(/\[[^\]\n]*\bas keyof typeof\b/g)].map(({ index }) => index));
    return found
      .sort((one, other) => one - other)
      .map((index) => `${source.path}:${code.slice(0, index).split('\n').length}`);
  });
}

/** Of the same length in lines. */
function withoutComments(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|\s)\/\/.*$/gm, '$1');
}

/** Whether `name[…]` is the pattern of a type, as in `Row[keyof Row]: …`. */
function isDeclaration(code: string, end: number): boolean {
  return /^\s*[:>]/.test(code.slice(end)) && !/^\s*\?\?/.test(code.slice(end));
}

const SOURCES = readProgramFiles();

/** Foreign objects that only constant words index, the names of fields of a schema; a table that foreign words index there has a null prototype. */
const BY_OWN_WORDS = [
  'packages/kernel/src/base/protobuf-message.ts',
  'packages/kubernetes/src/api/connection/kubeconfig-file.ts',
  'packages/ops/src/compare/judge.ts',
];

it('are no plain objects', () => {
  expect(SOURCES.length).toBeGreaterThan(500);
  const found = findWordTables(SOURCES);
  expect(found.filter((place) => !BY_OWN_WORDS.some((path) => place.startsWith(path)))).toEqual([]);
  // A path that is not found any more is to be taken out of the list.
  for (const path of BY_OWN_WORDS) expect(found.join()).toContain(path);
});

it.each([
  ['a table', 'const FIELDS: Readonly<Record<string, number>> = {\n  a: 1,\n};'],
  ['a table of functions', 'const READ: Record<string, (word: string) => void> = {\n  a: (word) => {},\n};'],
  ['an index signature', 'const TABLE: { readonly [word: string]: number } = {\n  a: 1 };'],
  ['an object that is filled', 'const seen: Record<string, boolean> = {};'],
  [
    'a parameter',
    'function find(names: Readonly<Record<string, number>>, name: string) {\n  return names[name];\n}',
  ],
  [
    'a field',
    'class A {\n  readonly #names: Record<string, number>;\n  find(name: string) { return this.#names[name]; }\n}',
  ],
  [
    'an alias',
    'type Words = Readonly<Record<string, number>>;\nconst find = (words: Words, word: string) => words[word];',
  ],
  ['a cast', 'const kind = TABLE[word as keyof typeof TABLE];'],
])('are found: %s', (_what, text) => {
  expect(findWordTables([{ path: 'bad.ts', text }])).not.toEqual([]);
});

it.each([
  ['a Map', 'const FIELDS: ReadonlyMap<string, number> = new Map([]);'],
  ['a null prototype', 'const FIELDS: Record<string, number> = { __proto__: null, a: 1 };'],
  ['words of our own', "const find = (names: Readonly<Record<string, number>>) => names['a'];"],
  ['kinds', "const SIZES: Readonly<Record<'a' | 'b', number>> = { a: 1, b: 2 };"],
  [
    'an index that is looked up first',
    'const find = (names: Readonly<Record<string, number>>, name: string) =>\n  Object.hasOwn(names, name) ? names[name] : 0;',
  ],
])('are let through: %s', (_what, text) => {
  expect(findWordTables([{ path: 'good.ts', text }])).toEqual([]);
});
