/**
 * `docs/reference/corefile.md` has the syntax of all directives from their readers, and the plugins that are not implemented:
 * `npm run docs` writes both.
 */
import { readFileSync } from 'node:fs';
import { pluginOrder } from '@portolan/frontends/coredns/settings/plugin-order.ts';
import { COREFILE_PLUGINS, findDefinition } from '@portolan/frontends/plugins/registry.ts';
import { expect, it } from 'vitest';

const PAGE = 'docs/reference/corefile.md';
/** Plugins that take the lines of another one. */
const BASES = new Map([['kubernetai', 'kubernetes']]);

/** The page with a text between the marks of a part. */
function withPart(page: string, part: string, text: string): string {
  const block = new RegExp(`<!-- ${part} -->\\n[\\s\\S]*?<!-- end of ${part} -->`);
  expect(page).toMatch(block);
  return page.replace(block, () => `<!-- ${part} -->\n\n${text}\n\n<!-- end of ${part} -->`);
}

/** The syntax of a plugin. Lines that are those of the plugin that it is a kind of are not repeated. */
function formatSyntax({ name, syntax }: (typeof COREFILE_PLUGINS)[number]): string {
  const [first = '', ...rest] = syntax;
  const same = COREFILE_PLUGINS.find((other) => other.name === BASES.get(name));
  if (same === undefined) return syntax.join('\n');
  expect(rest).toEqual(same.syntax.slice(1));
  return `${first}\n    # the lines of ${same.name}\n}`;
}

it('holds the syntax of all directives and the plugins that are not built, in alphabetical order', async () => {
  const plugins = COREFILE_PLUGINS.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const forms = plugins.map(formatSyntax);
  const unbuilt = pluginOrder('1.14').filter((name) => findDefinition(name) === undefined);
  const page = readFileSync(PAGE, 'utf8');
  const withSyntax = withPart(page, 'directives', `\`\`\`\n${forms.join('\n\n')}\n\`\`\``);
  const names = unbuilt.toSorted().map((name) => `\`${name}\``);
  await expect(withPart(withSyntax, 'not built', names.join(' '))).toMatchFileSnapshot(`../../${PAGE}`);
});
