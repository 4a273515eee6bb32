/**
 * What the documentation shows is pasted into terminals that point at a live cluster: each block that changes one says what, and nothing is
 * applied that has not been looked at.
 */
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { listPages, readShellBlocks, type ShellBlock } from './shell-blocks.ts';

const BLOCKS = listPages().flatMap((page) => readShellBlocks(page));

const CHANGING =
  /\b(?:kubectl|oc)\b[^|&\n]* (?:apply|delete|create|patch|edit|replace|scale|label|annotate|set|drain|cordon|undo|restart|debug|run|taint) |\bhelm (?:install|upgrade|uninstall|rollback)\b|\bswap [^\n]*--apply/;

/** Without comments. */
const extractCommands = ({ text }: ShellBlock): string => text.replaceAll(/(?:^|\s)#.*$/gm, '');

const formatPlace = ({ page, line }: ShellBlock) => `${page}:${line}`;

it('says in each block that changes a cluster what it changes', () => {
  const changing = BLOCKS.filter((block) => CHANGING.test(extractCommands(block)));
  expect(changing.length).toBeGreaterThan(40);
  expect(changing.filter(({ text }) => !text.startsWith('# Changes: ')).map(formatPlace)).toEqual([]);
});

it('pipes nothing into kubectl apply, which would be applied unseen', () => {
  const piped = BLOCKS.filter((block) =>
    /\|\s*(?:kubectl|oc)\b[^\n]* (?:apply|create|replace|delete)\b/.test(extractCommands(block)),
  );
  expect(piped.map(formatPlace)).toEqual([]);
});

it('looks at manifests of Portolan with kubectl diff before it applies them', () => {
  for (const page of new Set(BLOCKS.map((block) => block.page))) {
    const text = BLOCKS.filter((block) => block.page === page)
      .map((block) => block.text)
      .join('');
    for (const [, file = ''] of text.matchAll(/portolan manifests(?:[^>|\n]|\\\n)*> (\S+)/g)) {
      const [looked, applied] = [
        text.indexOf(`kubectl diff -f ${file}`),
        text.indexOf(`kubectl apply -f ${file}`),
      ];
      expect(looked, `${page}: ${file}`).toBeGreaterThan(0);
      if (applied !== -1) expect(looked, `${page}: ${file}`).toBeLessThan(applied);
    }
  }
});

it('ends the DNS that runs only after a rollout that has succeeded', () => {
  const ending = BLOCKS.filter(({ text }) => /--replicas=0|helm uninstall|delete deployment/.test(text));
  expect(ending.length).toBeGreaterThan(3);
  for (const block of ending)
    expect(block.text, formatPlace(block)).toMatch(
      /rollout status \S+ --timeout=\w+ &&\n\s+(?:kubectl [^\n]*(?:--replicas=0|delete deployment)|helm uninstall)/,
    );
});

it('names tests that exist where it says why a block is not run', () => {
  const named = BLOCKS.flatMap(({ excuse = '' }) => excuse.match(/(?:test|\.ci)\/[\w./-]*\w/g) ?? []);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
});

it('installs no package by a name of this project, which anyone may publish', () => {
  for (const page of listPages())
    expect(readFileSync(page, 'utf8'), page).not.toMatch(/(?:npm install|npx)(?: -\S+)* portolan(?:\s|`|$)/m);
});
