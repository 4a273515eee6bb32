/**
 * The site of `docs/`: its pages as they are, with search. `npm run site` builds it into `site/.vitepress/dist`; a link to a page that
 * does not exist fails the build.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DefaultTheme, defineConfig, type MarkdownOptions } from 'vitepress';

type MarkdownIt = Parameters<NonNullable<MarkdownOptions['config']>>[0];

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const project = join(docs, '..');
const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { version: string };

/** Where readers find the files of the project, such as `https://git.example/portolan/blob/main`. Without it, links to files are text. */
const sources = process.env['SITE_SOURCES']?.replace(/\/$/, '');

export default defineConfig({
  title: 'Portolan',
  description: 'The DNS server of a Kubernetes cluster',
  srcDir: docs,
  cleanUrls: true,
  lastUpdated: false,
  rewrites: { 'README.md': 'index.md', ':folder/README.md': ':folder/index.md' },
  // The pages have no HTML but comments; what looks like a tag is text.
  markdown: { html: false, config: extendMarkdown },
  vite: {
    plugins: [
      {
        // The pages lie where no packages are.
        name: 'packages-of-the-site',
        enforce: 'pre',
        resolveId(source, importer, options) {
          if (importer?.startsWith(docs) !== true || !/^vue(\/|$)/.test(source)) return undefined;
          return this.resolve(source, fileURLToPath(import.meta.url), { ...options, skipSelf: true });
        },
      },
    ],
    ssr: { external: ['vue', 'vue/server-renderer'] },
    // Mermaid is one large part that is loaded with a picture.
    build: { chunkSizeWarningLimit: 1000 },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [{ text: version, link: '/' }],
    sidebar: readSidebar(),
  },
});

/** The headings and links of the index of all pages. */
function readSidebar(): DefaultTheme.SidebarItem[] {
  const groups: { text: string; collapsed: boolean; items: DefaultTheme.SidebarItem[] }[] = [];
  for (const line of readFileSync(join(docs, 'README.md'), 'utf8').split('\n')) {
    const heading = /^## (.*)$/.exec(line)?.[1];
    if (heading !== undefined) groups.push({ text: heading, collapsed: false, items: [] });
    const [, text, page] = /^- \[(.+?)\]\(([^)#]+)\.md\)/.exec(line) ?? [];
    if (text !== undefined && page !== undefined)
      groups.at(-1)?.items.push({ text: text.replaceAll('`', ''), link: `/${page.replace(/README$/, '')}` });
  }
  return groups.filter(({ items }) => items.length > 0);
}

function extendMarkdown(md: MarkdownIt): void {
  md.core.ruler.before('normalize', 'comments', (state) => {
    state.src = state.src.replaceAll(/^<!--.*?-->$/gms, '');
  });
  md.core.ruler.after('inline', 'files-of-the-project', ({ tokens, env }) => {
    const page = dirname(String(env.path ?? join(docs, 'README.md')));
    for (const { children } of tokens) leadToSources(children ?? [], page);
  });
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index];
    if (token?.info.trim() === 'mermaid')
      return `<ClientOnly><MermaidPicture source="${encodeURIComponent(token.content)}" /></ClientOnly>`;
    return fence?.(tokens, index, options, env, self) ?? '';
  };
}

type Token = ReturnType<MarkdownIt['parse']>[number];

/** Makes links to files outside `docs/` links to the sources. Links hold no links. */
function leadToSources(tokens: readonly Token[], page: string): void {
  let isText = false;
  for (const token of tokens) {
    if (token.type === 'link_open') isText = !leadToSource(token, page);
    if (isText && token.type.startsWith('link_')) [token.tag, token.attrs] = ['span', null];
  }
}

/** @returns whether the link leads anywhere */
function leadToSource(link: Token, page: string): boolean {
  const href = link.attrGet('href') ?? '';
  if (/^[a-z]+:|^#|^\//.test(href)) return true;
  const [path = '', anchor] = href.split('#');
  const file = join(page, decodeURIComponent(path));
  const place = relative(project, file);
  if (place.startsWith('docs/')) return true;
  if (!existsSync(file))
    throw new Error(`${relative(project, page)}: link to a file that does not exist: ${href}`);
  if (sources === undefined) return false;
  link.attrSet('href', `${sources}/${place}${anchor === undefined ? '' : `#${anchor}`}`);
  return true;
}
