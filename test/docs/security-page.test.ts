/**
 * `docs/explanation/security.md` has the table of promises: the text between the marks `<!-- promises -->` and
 * `<!-- end of promises -->` is generated from it by `npm run docs`.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type PromiseRow, SCENES } from '../promises/promises.ts';
import { ROLES } from '../support/roles.ts';

const PAGE = 'docs/explanation/security.md';
const BLOCK = /<!-- promises -->\n[\s\S]*?<!-- end of promises -->/;

function toCells({ promise, shown }: PromiseRow): readonly string[] {
  return [promise, shown];
}

function writeTable(): string {
  const head = ['Promise', 'Figure'];
  const lines = [head, head.map(() => '---'), ...SCENES.flatMap(({ rows }) => rows.map(toCells))];
  const table = lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  const roles = ROLES.map((role) => `\`${role}\``).join(', ');
  return `<!-- promises -->\n\nEach holds in ${roles}:\n\n${table}\n\n<!-- end of promises -->`;
}

it('holds the table of promises', async () => {
  const page = readFileSync(PAGE, 'utf8');
  expect(page).toMatch(BLOCK);
  await expect(page.replace(BLOCK, writeTable())).toMatchFileSnapshot(`../../${PAGE}`);
});
