/**
 * The table of deviations: its ids are words that users can write, the code asks for each, tests show each, and the page lists each.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DEVIATION_SECTIONS,
  DEVIATIONS,
  findSwitches,
  isRestorable,
} from '@portolan/kernel/deviations/table.ts';
import { expect, it } from 'vitest';

const RESTORABLE = DEVIATIONS.filter(isRestorable);

/** The texts of the files below some folders whose paths fit. */
function readTexts(folders: readonly string[], fits: (path: string) => boolean): readonly string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((path) => join(folder, path))
      .filter((path) => fits(path) && !path.includes('node_modules'))
      .map((path) => readFileSync(path, 'utf8')),
  );
}

const isCode = (path: string) => path.endsWith('.ts') && !path.endsWith('.test.ts');
const isOfTable = (path: string) => path.startsWith('packages/kernel/src/deviations/');
const source = readTexts(['packages'], (path) => isCode(path) && !isOfTable(path));
const tests = readTexts(
  ['packages', 'test'],
  (path) =>
    path.endsWith('.test.ts') ||
    path.endsWith('known-differences.ts') ||
    /(?:known-differences|strict-cases)\.json$/.test(path),
);

/** As a text of its own, or as a word of the value of `-compat`. */
function isNamedIn(texts: readonly string[], id: string): boolean {
  const word = new RegExp(`(?:['"]|-compat=(?:[\\w.-]+,)*)${id}(?=['",])`);
  return texts.some((text) => word.test(text));
}

it('has ids that differ, in words of lower case', () => {
  const ids = DEVIATIONS.map(({ id }) => id);
  expect(ids.length).toBeGreaterThan(60);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(id))).toEqual([]);
});

it('has each row in one section of the page, and on the page', () => {
  const shown = Object.values(DEVIATION_SECTIONS).flat();
  expect(shown.map(({ id }) => id).toSorted()).toEqual(DEVIATIONS.map(({ id }) => id).toSorted());
  const page = readFileSync('docs/explanation/dialects.md', 'utf8');
  expect(DEVIATIONS.filter(({ id }) => !page.includes(`| \`${id}\` |`)).map(({ id }) => id)).toEqual([]);
});

it('restores a row with another one only if that has a switch', () => {
  const restorable = new Set<string>(RESTORABLE.map(({ id }) => id));
  const leaders = DEVIATIONS.flatMap((row) => findSwitches(row).filter((id) => id !== row.id));
  expect(leaders.length).toBeGreaterThan(5);
  expect(leaders.filter((id) => !restorable.has(id))).toEqual([]);
});

it('is all that the source asks: there is no other switch for CoreDNS', () => {
  expect(source.length).toBeGreaterThan(500);
  expect(source.filter((text) => /\bisStrict\b|\bstrict mode\b/i.test(text))).toEqual([]);
});

it('has a place in the source for each switch that does more than leave work to the chain', () => {
  const unasked = RESTORABLE.filter(({ id, byLeaving }) => byLeaving !== true && !isNamedIn(source, id));
  expect(unasked.map(({ id }) => id)).toEqual([]);
});

it('has a test or a recorded case for each switch', () => {
  expect(RESTORABLE.filter(({ id }) => !isNamedIn(tests, id)).map(({ id }) => id)).toEqual([]);
});
