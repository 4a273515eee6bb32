/**
 * Habits of the source that neither the compiler nor biome checks.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ODD_PHRASES } from './support/odd-phrases.ts';
import { readProgramFiles } from './support/sources.ts';

const paths = ['packages', 'test', 'bench', 'scripts'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:ts|mjs)$/.test(path) && !path.includes('node_modules'))
    .map((path) => join(folder, path)),
);

/** The lines of all files that match, as `path:line`. */
function findLines(pattern: RegExp): readonly string[] {
  return paths.flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
  );
}

it('reads the source', () => {
  expect(paths.length).toBeGreaterThan(2000);
});

it('spreads no literal into another one: properties have a line each', () => {
  // Built from parts, so that this line is no finding.
  expect(findLines(new RegExp(['^\\s*', '\\.\\.\\.', '\\{\\s'].join('')))).toEqual([]);
});

it('takes no values apart that it has just put together', () => {
  expect(findLines(/^\s*(?:const|let) \[[\w$]+(?:, [\w$]+)+\] = \[[^\]\n]*,[^\n]*\];$/)).toEqual([]);
});

/** The files of the program that match. */
function findInProgram(pattern: RegExp): readonly string[] {
  return readProgramFiles()
    .filter(({ text }) => pattern.test(text))
    .map(({ path }) => path);
}

it('opens the HTTP ports of all roles in one place', () => {
  expect(findInProgram(/\bnew HttpServer\(/)).toEqual(['packages/server/src/observe/http-host.ts']);
});

it('describes a caught value in one place', () => {
  expect(findInProgram(/ instanceof Error \? \w+\.message : /)).toEqual([
    'packages/kernel/src/base/describe-error.ts',
  ]);
});

it('matches addresses with ranges by one library, in packages/dns/src', () => {
  expect(findInProgram(/\bBlockList\b/)).toEqual([]);
});

it('names functions by verbs: no genitives such as nameOf', () => {
  const declared =
    /(?:\bfunction\*? |\b(?:const|let) |^\s+(?:(?:static|async|private|readonly|get) )*)#?[a-z]\w*Of\b(?:<[^>]*>)?(?:\(|\s*=)/;
  const calls = /^\s+(?:return|await|expect|if|for)\b|\b(?:is\w+|index|lastIndex|one|any|all)Of\b|InstanceOf/;
  const found = findLines(declared).filter((place) => {
    const [path = '', line = ''] = place.split(':');
    return !calls.test(readFileSync(path, 'utf8').split('\n')[Number(line) - 1] ?? '');
  });
  expect(found).toEqual([]);
});

it.each([...ODD_PHRASES, /\bhas come\b(?! up)/, /\bcame and went\b/])('has no sentence with %s', (phrase) => {
  // Lists of phrases, and an example, are no sentences.
  const lists = /^test\/(?:habits\.test|support\/odd-phrases|docs\/words\.test)\.ts:/;
  expect(findLines(phrase).filter((place) => !lists.test(place))).toEqual([]);
});
