/**
 * The site: its pages have places of their own, its index leads to pages, and its search finds single messages. `npm run site` builds it,
 * and fails at links that lead nowhere.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { findPlace, formatAnchor, formatLink, readIndex, splitReadme } from '../../site/.vitepress/pages.ts';
import { splitIntoSections } from '../../site/.vitepress/search-sections.ts';
import { listPages } from './shell-blocks.ts';

const FILES = [...listPages(), 'CHANGELOG.md', 'SECURITY.md'];
const INDEX = readIndex(readFileSync('docs/README.md', 'utf8'));

describe('pages', () => {
  it('have places that no two share', () => {
    const places = FILES.flatMap((file) => findPlace(file) ?? []);
    expect(places.length).toBeGreaterThan(200);
    expect(places.filter((place, index) => places.indexOf(place) !== index)).toEqual([]);
  });

  it('are all of docs/, the changelog, the chart and the READMEs of plugins', () => {
    const plugins = readdirSync('packages/plugins/src', { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `packages/plugins/src/${name}/README.md`)
      .filter((file) => existsSync(file));
    const expected = [
      ...FILES.filter((file) => file.startsWith('docs/')),
      ...plugins,
      'CHANGELOG.md',
      'CONTRIBUTING.md',
      'deploy/chart/README.md',
      'packages/kubernetes/src/plugins/autopath/README.md',
    ];
    expect(plugins.length).toBeGreaterThan(40);
    expect(expected.filter((file) => findPlace(file) === undefined)).toEqual([]);
  });

  it.each([
    ['README.md', '/'],
    ['docs/how-to/install.md', '/how-to/install'],
    ['docs/runbooks/README.md', '/runbooks/'],
    ['packages/plugins/src/cache/README.md', '/plugins/cache'],
    ['packages/ads/README.md', '/packages/ads'],
  ])('%s is at %s', (file, link) => {
    expect(formatLink(findPlace(file) ?? '')).toBe(link);
  });

  it('leave out other files', () => {
    expect(['Dockerfile', 'packages/dns/src/name.ts', 'test/golden/README.md'].map(findPlace)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

it('reads groups and pages from the index', () => {
  const items = INDEX.flatMap((group) => group.items);
  expect(INDEX[0]?.items[0]).toEqual({ text: 'Install', file: 'docs/how-to/install.md' });
  expect(items.filter(({ file }) => !existsSync(file) || findPlace(file) === undefined)).toEqual([]);
});

it('makes anchors as GitHub does', () => {
  expect(formatAnchor('`--rules`, and 0.2.0')).toBe('--rules-and-020');
});

it('takes the first paragraph of the README for the head of the home page', () => {
  const { tagline, rest } = splitReadme(readFileSync('README.md', 'utf8'));
  expect(tagline).toMatch(/^A DNS server for Kubernetes clusters/);
  expect(rest).toMatch(/^- \*\*/);
});

describe('search', () => {
  const html = `<h1 id="messages" tabindex="-1">Messages <a class="header-anchor" href="#messages">​</a></h1>
<p>What they mean.</p>
<h2 id="errors" tabindex="-1">Errors <a class="header-anchor" href="#errors">​</a></h2>
<table><tbody>
<tr id="bad-manifest">
<td><code>bad manifest</code></td>
<td>Correct <code>file</code>.</td>
</tr>
</tbody></table>`;

  it('finds a row of a table for itself', () => {
    expect([...splitIntoSections(html)]).toEqual([
      { anchor: 'messages', titles: ['Messages'], text: 'What they mean.' },
      { anchor: 'errors', titles: ['Messages', 'Errors'], text: '' },
      { anchor: 'bad-manifest', titles: ['Messages', 'Errors', 'bad manifest'], text: 'Correct  file .' },
    ]);
  });

  it('finds nothing in a page without headings', () => {
    expect([...splitIntoSections('<p>text</p>')]).toEqual([]);
  });
});
