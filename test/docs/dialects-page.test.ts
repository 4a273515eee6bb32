/**
 * `docs/explanation/dialects.md` has all deviations: the text between the marks `<!-- deviations: SECTION -->` and
 * `<!-- end of deviations: SECTION -->` is generated from the table of deviations by `npm run docs`.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { DeviationRow } from '../../src/deviations/deviation.ts';
import { DEVIATION_SECTIONS } from '../../src/deviations/table.ts';

const PAGE = 'docs/explanation/dialects.md';

function cellsOf({ id, plugins, original, portolan, why }: DeviationRow, hasPlugins: boolean) {
  const names = plugins.map((plugin) => `\`${plugin}\``).join(', ');
  return [`\`${id}\``, ...(hasPlugins ? [names] : []), original, portolan, why];
}

function writeTable(section: string, rows: readonly DeviationRow[]): string {
  const hasPlugins = rows.some((row) => row.plugins.join() !== rows[0]?.plugins.join());
  const original = section === 'against-kube-dns' ? 'kube-dns' : 'CoreDNS';
  const head = ['id', ...(hasPlugins ? ['plugin'] : []), original, 'Portolan', 'why'];
  const lines = [head, head.map(() => '---'), ...rows.map((row) => cellsOf(row, hasPlugins))];
  const table = lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  return `<!-- deviations: ${section} -->\n\n${table}\n\n<!-- end of deviations: ${section} -->`;
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
  await expect(page).toMatchFileSnapshot(`../../${PAGE}`);
});
