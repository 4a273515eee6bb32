/**
 * `docs/explanation/dialects.md` has all deviations: the text between the marks `<!-- deviations: SECTION -->` and
 * `<!-- end of deviations: SECTION -->`, and that between the marks of the work of readers, is generated from the table of deviations by `npm run docs`.
 */
import { readFileSync } from 'node:fs';
import type { DeviationRow, ReaderWork } from '@portolan/kernel/deviations/deviation.ts';
import { DEVIATION_SECTIONS, findLeavers } from '@portolan/kernel/deviations/table.ts';
import { expect, it } from 'vitest';

const PAGE = 'docs/explanation/dialects.md';

function toCells({ id, plugins, original, portolan, why }: DeviationRow, hasPlugins: boolean) {
  const names = plugins.map((plugin) => `\`${plugin}\``).join(', ');
  return [`\`${id}\``, ...(hasPlugins ? [names] : []), original, portolan, why];
}

function writeTable(section: string, rows: readonly DeviationRow[]): string {
  const hasPlugins = rows.some((row) => row.plugins.join() !== rows[0]?.plugins.join());
  const original = section === 'against-kube-dns' ? 'kube-dns' : 'CoreDNS';
  const head = ['id', ...(hasPlugins ? ['plugin'] : []), original, 'Portolan', 'why'];
  const lines = [head, head.map(() => '---'), ...rows.map((row) => toCells(row, hasPlugins))];
  const table = lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  return `<!-- deviations: ${section} -->\n\n${table}\n\n<!-- end of deviations: ${section} -->`;
}

const WORK: Readonly<Record<ReaderWork, string>> = {
  names: 'answers about the names of a cluster',
  forwarding: 'forwarding',
  searches: 'search lists of `autopath`',
};

function writeWork(): string {
  const rows = Object.entries(WORK).map(([work, text]) => {
    const ids = findLeavers(work as ReaderWork).map((id) => `\`${id}\``);
    return `| ${text} | ${ids.join(', ')} |`;
  });
  const table = ['| work | deviations |', '| --- | --- |', ...rows].join('\n');
  return `<!-- work of readers -->\n\n${table}\n\n<!-- end of work of readers -->`;
}

it('holds all deviations', async () => {
  let page = readFileSync(PAGE, 'utf8');
  for (const [section, rows] of Object.entries(DEVIATION_SECTIONS)) {
    const block = new RegExp(
      `<!-- deviations: ${section} -->\\n[\\s\\S]*?<!-- end of deviations: ${section} -->`,
    );
    expect(page).toMatch(block);
    page = page.replace(block, () => writeTable(section, rows));
  }
  const work = /<!-- work of readers -->\n[\s\S]*?<!-- end of work of readers -->/;
  expect(page).toMatch(work);
  page = page.replace(work, writeWork);
  await expect(page).toMatchFileSnapshot(`../../${PAGE}`);
});
