/**
 * `docs/reference/corefile.md` holds the syntax of all directives as their readers have it: `npm run docs` writes it.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { pluginOrder } from '../../src/config/corefile/plugin-order.ts';
import { COREFILE_PLUGINS, findDefinition } from '../../src/plugins/registry.ts';

const PAGE = 'docs/reference/corefile.md';
const BLOCK = /<!-- directives -->\n[\s\S]*?<!-- end of directives -->/;

it('holds the syntax of all directives, in alphabetical order', async () => {
  const plugins = COREFILE_PLUGINS.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const forms = plugins.map(({ syntax }) => syntax.join('\n'));
  const written = readFileSync(PAGE, 'utf8').replace(
    BLOCK,
    () => `<!-- directives -->\n\n\`\`\`\n${forms.join('\n\n')}\n\`\`\`\n\n<!-- end of directives -->`,
  );
  await expect(written).toMatchFileSnapshot(`../../${PAGE}`);
});

it('names all plugins that are not built', () => {
  const page = readFileSync(PAGE, 'utf8');
  const section = page.slice(page.indexOf('## Not built'), page.indexOf('are known by name'));
  const named = [...section.matchAll(/`(\w+)`/g)].map((match) => match[1]);
  expect(named).toEqual(
    pluginOrder('1.14')
      .filter((name) => findDefinition(name) === undefined)
      .toSorted(),
  );
});
