/**
 * The documentation as a whole: every relative link leads to a file and a heading that exist, and the index lists every page.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const PAGES = [
  ...readdirSync('.').filter((file) => file.endsWith('.md')),
  ...['docs', 'deploy', 'examples', 'packages', 'test'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
      .map((file) => join(folder, file)),
  ),
];

/** The text of a page without its blocks of code, in which brackets are no links. */
function readProse(page: string): string {
  return readFileSync(page, 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
}

/** The targets of the links of a page that lead to files of the repository. */
function readRelativeLinks(page: string): readonly string[] {
  return [...readProse(page).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors that GitHub gives to the headings of a page. */
function readAnchors(page: string): readonly string[] {
  return [...readProse(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

function isValid(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : normalize(join(dirname(page), path));
  return existsSync(file) && (anchor === undefined || readAnchors(file).includes(anchor));
}

describe('documentation', () => {
  it('has no relative link to a file or heading that does not exist', () => {
    expect(PAGES.length).toBeGreaterThan(30);
    const broken = PAGES.flatMap((page) =>
      readRelativeLinks(page)
        .filter((target) => !isValid(page, target))
        .map((target) => `${page}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('names no file of the repository that does not exist', () => {
    const missing = PAGES.filter((page) => page !== 'CHANGELOG.md').flatMap((page) =>
      [
        ...readFileSync(page, 'utf8').matchAll(
          /`((?:src|packages|test|docs|deploy|bench|scripts|examples)\/[\w./-]+)`/g,
        ),
      ]
        .map(([, path = '']) => path)
        // `NAME` stands for any name.
        .filter((path) => !existsSync(path) && !path.includes('NAME'))
        .map((path) => `${page}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('names no source file that does not exist', () => {
    const sources = [
      'packages',
      'test',
      'scripts',
      'bench',
      'dashboard',
      'examples',
      'site/.vitepress',
    ].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => !file.includes('node_modules'))
        .map((file) => `/${join(folder, file)}`),
    );
    const isSource = (path: string) => sources.some((source) => source.endsWith(`/${path}`));
    const missing = PAGES.filter((page) => page !== 'CHANGELOG.md' && !page.startsWith('docs/adr/')).flatMap(
      (page) =>
        [...readFileSync(page, 'utf8').matchAll(/`((?:[\w.-]+\/)*[\w-]+\.ts)`/g)]
          .map(([, path = '']) => path)
          .filter((path) => !path.includes('NAME') && !isSource(path))
          .map((path) => `${page}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('has an index that lists every page of docs/', () => {
    const listed = readRelativeLinks('docs/README.md').map((target) => normalize(join('docs', target)));
    const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
    // Decisions have an index of their own.
    const others = pages.filter((page) => !page.startsWith('docs/adr/0'));
    expect(others.filter((page) => !listed.includes(page))).toEqual([]);
  });
});
