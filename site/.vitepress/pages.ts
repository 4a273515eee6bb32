/**
 * Which files of the project are pages of the site, and where they stand on it.
 */

/** Pages outside `docs/`, and their places. */
const PLACES: Readonly<Record<string, string>> = {
  'README.md': 'index.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security.md',
  'docs/README.md': 'documentation.md',
  'deploy/README.md': 'deploy/index.md',
  'deploy/chart/README.md': 'deploy/chart.md',
  'examples/README.md': 'examples.md',
};
const PLUGIN = /^packages\/(?:plugins\/src|[\w-]+\/src\/plugins)\/([\w-]+)\/README\.md$/;
const PACKAGE = /^packages\/([\w-]+)\/README\.md$/;

/**
 * @param file a path from the root of the project
 * @returns its place on the site, as in `how-to/install.md`; undefined: the file is no page
 */
export function findPlace(file: string): string | undefined {
  const place = PLACES[file];
  if (place !== undefined) return place;
  if (file.startsWith('docs/')) return file.slice('docs/'.length).replace(/\bREADME\.md$/, 'index.md');
  const [, plugin] = PLUGIN.exec(file) ?? [];
  if (plugin !== undefined) return `plugins/${plugin}.md`;
  const [, name] = PACKAGE.exec(file) ?? [];
  return name === undefined ? undefined : `packages/${name}.md`;
}

/** The link to a place, as in `/how-to/install`. */
export function formatLink(place: string): string {
  return `/${place.replace(/(?:\bindex)?\.md$/, '')}`;
}

/** The anchor of a heading, as GitHub makes it: links in the pages have this form. */
export function formatAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
}

export interface IndexGroup {
  readonly text: string;
  /** Titles with their files, as paths from the root of the project. */
  readonly items: readonly { readonly text: string; readonly file: string }[];
}

/** The headings and links of `docs/README.md`, the index of all pages. */
export function readIndex(markdown: string): readonly IndexGroup[] {
  return markdown
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.slice(0, section.indexOf('\n')),
      items: [...section.matchAll(/^- \[(.+?)\]\(([^)#]+\.md)\)/gm)].map(([, text = '', link = '']) => ({
        text: text.replaceAll('`', ''),
        file: link.startsWith('../') ? link.slice('../'.length) : `docs/${link}`,
      })),
    }));
}

/** The name of the program, and the paragraph below it, which the home page shows large. */
export function splitReadme(markdown: string): { readonly tagline: string; readonly rest: string } {
  const [, tagline = '', rest = ''] = /^# [^\n]*\n\n([\s\S]*?)\n\n([\s\S]*)$/.exec(markdown) ?? [];
  return { tagline: tagline.replaceAll('\n', ' '), rest };
}
