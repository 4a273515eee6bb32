/**
 * The site: the README as its home page, `docs/`, the changelog, the chart, the plugins, with search. `npm run site` builds it into
 * `site/.vitepress/dist`; a link to a page that does not exist fails the build.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DefaultTheme, defineConfig, type MarkdownOptions } from 'vitepress';
import corefile from './corefile.tmLanguage.json';
import { findPlace, formatAnchor, formatLink, readIndex, splitReadme } from './pages.ts';
import { splitIntoSections } from './search-sections.ts';

type MarkdownIt = Parameters<NonNullable<MarkdownOptions['config']>>[0];

const project = fileURLToPath(new URL('../../', import.meta.url));
const readText = (file: string): string => readFileSync(join(project, file), 'utf8');
const { version } = JSON.parse(readText('package.json')) as { version: string };
const { tagline } = splitReadme(readText('README.md'));
const mark = `data:image/svg+xml;base64,${Buffer.from(readText('site/.vitepress/mark.svg').trim()).toString('base64')}`;

/** Where readers find the files of the project, such as `https://git.example/portolan/blob/main`. Without it, links to files are text. */
const sources = process.env['SITE_SOURCES']?.replace(/\/$/, '');

export default defineConfig({
  title: 'Portolan',
  description: tagline,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: mark }]],
  srcDir: project,
  srcExclude: ['{bench,dashboard,release,scripts,site,test}/**', 'examples/*/**', 'ARCHITECTURE.md'],
  cleanUrls: true,
  lastUpdated: false,
  rewrites: (file) => findPlace(file) ?? file,
  // The pages have no HTML but comments; what looks like a tag is text.
  markdown: {
    html: false,
    languages: [corefile],
    anchor: { slugify: formatAnchor },
    config: extendMarkdown,
  },
  transformPageData: ({ relativePath }) => (relativePath === 'index.md' ? describeHome() : undefined),
  vite: {
    plugins: [
      {
        // The pages lie where no packages of the site are.
        name: 'packages-of-the-site',
        enforce: 'pre',
        resolveId(source, importer, options) {
          if (!/\.md(?:\?|$)/.test(importer ?? '') || !/^vue(\/|$)/.test(source)) return undefined;
          return this.resolve(source, fileURLToPath(import.meta.url), { ...options, skipSelf: true });
        },
      },
    ],
    ssr: { external: ['vue', 'vue/server-renderer'] },
    // Mermaid is one large part that is loaded with a picture.
    build: { chunkSizeWarningLimit: 1000 },
  },
  themeConfig: {
    logo: mark,
    search: {
      provider: 'local',
      options: { miniSearch: { _splitIntoSections: (_file, html) => splitIntoSections(html) } },
    },
    outline: [2, 3],
    nav: [
      { text: 'Install', link: '/how-to/install' },
      { text: 'Guides', link: '/documentation' },
      { text: 'Flags', link: '/reference/flags' },
      { text: version, link: '/changelog' },
      ...(sources === undefined ? [] : [{ text: 'Source', link: sources }]),
    ],
    sidebar: readSidebar(),
  },
});

function describeHome() {
  const hero = {
    name: 'Portolan',
    tagline,
    actions: [
      { theme: 'brand', text: 'Install', link: '/how-to/install' },
      { theme: 'alt', text: 'In ten minutes', link: '/tutorials/corefile-in-ten-minutes' },
      { theme: 'alt', text: 'Compare', link: '/explanation/comparison' },
    ],
  };
  return { title: 'Portolan', frontmatter: { layout: 'home', hero } };
}

function readSidebar(): DefaultTheme.SidebarItem[] {
  const groups = readIndex(readText('docs/README.md')).map(({ text, items }, index) => ({
    text,
    collapsed: index > 0,
    items: items.map(({ text: title, file }) => ({ text: title, link: formatLink(findPlace(file) ?? '') })),
  }));
  const plugins = readdirSync(join(project, 'packages'), { recursive: true, encoding: 'utf8' })
    .flatMap((file) => findPlace(join('packages', file)) ?? [])
    .filter((place) => place.startsWith('plugins/'))
    .sort()
    .map((place) => ({ text: place.slice('plugins/'.length, -'.md'.length), link: formatLink(place) }));
  return [...groups, { text: 'Plugins', collapsed: true, items: plugins }];
}

function extendMarkdown(md: MarkdownIt): void {
  md.core.ruler.before('normalize', 'comments', (state) => {
    if (findFile(state.env) === 'README.md') state.src = splitReadme(state.src).rest;
    state.src = state.src.replaceAll(/^<!--.*?-->$/gms, '');
  });
  md.core.ruler.after('inline', 'files-of-the-project', ({ tokens, env }) => {
    const page = dirname(join(project, findFile(env)));
    for (const { children } of tokens) leadToFiles(children ?? [], page);
    if (findFile(env).startsWith('docs/reference/')) nameRows(tokens);
  });
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index];
    if (token?.info.trim() === 'mermaid')
      return `<ClientOnly><MermaidPicture source="${encodeURIComponent(token.content)}" /></ClientOnly>`;
    if (token?.info.trim() === '' && /\{\s*$/m.test(token.content)) token.info = 'corefile';
    return fence?.(tokens, index, options, env, self) ?? '';
  };
  md.renderer.rules.code_block = (...parts) => md.renderer.rules.fence?.(...parts) ?? '';
}

/** The file of a page, as a path from the root of the project. */
function findFile(env: { readonly path?: string; readonly realPath?: string }): string {
  return relative(project, env.realPath ?? env.path ?? '');
}

type Token = ReturnType<MarkdownIt['parse']>[number];

/** Gives rows that begin with code, such as flags and messages, an anchor, to which the search leads. */
function nameRows(tokens: readonly Token[]): void {
  const isText = ({ type }: Token) => type === 'text' || type === 'code_inline';
  const headings = tokens.filter((_, index) => tokens[index - 1]?.type === 'heading_open');
  const used = new Set(
    headings.map(({ children }) =>
      formatAnchor(
        (children ?? [])
          .filter(isText)
          .map(({ content }) => content)
          .join(''),
      ),
    ),
  );
  tokens.forEach((token, index) => {
    const first = token.type === 'tr_open' ? tokens[index + 2]?.children?.[0] : undefined;
    if (first?.type !== 'code_inline') return;
    const anchor = formatAnchor(first.content);
    if (anchor === '' || used.has(anchor)) return;
    used.add(anchor);
    token.attrSet('id', anchor);
  });
}

/** Makes links to files links to pages of the site, or to the sources. */
function leadToFiles(tokens: readonly Token[], page: string): void {
  let isText = false;
  for (const token of tokens) {
    if (token.type === 'link_open') isText = !leadToFile(token, page);
    if (isText && token.type.startsWith('link_')) [token.tag, token.attrs] = ['span', null];
  }
}

/** @returns whether the link leads anywhere */
function leadToFile(link: Token, page: string): boolean {
  const href = link.attrGet('href') ?? '';
  if (/^[a-z]+:|^#|^\//.test(href)) return true;
  const [path = '', hash] = href.split('#');
  const file = join(page, decodeURIComponent(path));
  if (!existsSync(file))
    throw new Error(`${relative(project, page)}: link to a file that does not exist: ${href}`);
  const source = relative(project, file);
  // A folder is its README.
  const place = [source, join(source, 'README.md')]
    .filter((each) => each.endsWith('.md') && existsSync(join(project, each)))
    .map(findPlace)
    .find((each) => each !== undefined);
  if (place === undefined && sources === undefined) return false;
  const target = place === undefined ? `${sources}/${source}` : formatLink(place);
  link.attrSet('href', hash === undefined ? target : `${target}#${hash}`);
  return true;
}
