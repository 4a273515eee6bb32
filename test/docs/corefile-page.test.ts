/**
 * `docs/reference/corefile.md` has the syntax of all directives from their readers, and the plugins that are not implemented:
 * `npm run docs` writes both. READMEs of plugins repeat the syntax.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
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

/** By the name of a plugin: the blocks of its README that begin with that name. */
function readShownSyntax(): ReadonlyMap<string, readonly string[]> {
  const pages = readdirSync('packages', { recursive: true, encoding: 'utf8' }).filter(
    (path) => basename(path) === 'README.md' && !path.includes('node_modules'),
  );
  return new Map(
    pages.map((path) => {
      const name = basename(dirname(path));
      const text = readFileSync(`packages/${path}`, 'utf8');
      const blocks = [...text.matchAll(/(?:^ {4}.*\n)+/gm)].map(([block]) =>
        block.replace(/^ {4}/gm, '').trim(),
      );
      return [name, blocks.filter((block) => block.startsWith(name))];
    }),
  );
}

it('has the same syntax in the READMEs of plugins, or none', () => {
  const shown = readShownSyntax();
  const others = COREFILE_PLUGINS.filter(({ name, syntax }) =>
    shown.get(name)?.some((block) => block !== syntax.join('\n')),
  );
  expect(others.map(({ name }) => name)).toEqual([]);
  expect(COREFILE_PLUGINS.filter(({ name }) => shown.get(name)?.length === 1).length).toBeGreaterThan(40);
});

it('holds the syntax of all directives and the plugins that are not built, in alphabetical order', async () => {
  const plugins = COREFILE_PLUGINS.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const forms = plugins.map(formatSyntax);
  const unbuilt = pluginOrder('1.14').filter((name) => findDefinition(name) === undefined);
  const page = readFileSync(PAGE, 'utf8');
  const withSyntax = withPart(page, 'directives', `\`\`\`\n${forms.join('\n\n')}\n\`\`\``);
  const names = unbuilt.toSorted().map((name) => `\`${name}\``);
  await expect(withPart(withSyntax, 'not built', names.join(' '))).toMatchFileSnapshot(`../../${PAGE}`);
});
