/**
 * The prose of the documentation: no phrases that hide who acts, and no sentences that readers have to read twice.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ODD_PHRASES } from '../support/odd-phrases.ts';
import { listPages } from './shell-blocks.ts';

/** Made from tables in the source, which other tests compare, or records of what was decided. */
const OTHERS =
  /^docs\/(?:adr\/|reference\/(?:flags|metrics|messages|corefile|reasons|dnsmasq-options|zone-files)\.md)/;
const PAGES = listPages().filter((page) => !OTHERS.test(page));
const BANNED = [
  ...ODD_PHRASES,
  /\b(?:told|stood in|stands in for|stand in for)\b/i,
  /\bto be had\b/i,
  /\bwhom\b/i,
  /\bwhoever\b/i,
  /\b(?:be|is|are) followed (?!by\b)/i,
  /(?:^|[.!?] )(?:Not|None|Nobody|No one) /m,
];
/** Twenty are the aim. Figures, names in code and lists count as words, so there is some room. */
const MOST_WORDS = 30;

/** Its sentences, without code, also indented code, and the targets of links. */
function splitSentences(markdown: string): readonly string[] {
  const prose = markdown.replaceAll(/```[\s\S]*?```|<!--[\s\S]*?-->/g, '');
  return prose
    .split(/\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) ?)/)
    .filter((paragraph) => !/^(?:\s*[|#]| {4}(?![-*\d ]))/.test(paragraph))
    .map((paragraph) => paragraph.replaceAll(/\]\([^)]*\)/g, ']').replaceAll(/`[^`]*`/g, 'X'))
    .flatMap((paragraph) => paragraph.replaceAll(/\s+/g, ' ').split(/(?<=[.!?:;]) /))
    .filter((sentence) => sentence.trim() !== '');
}

const countWords = (sentence: string): number => sentence.split(' ').filter(Boolean).length;

it('finds phrases and long sentences', () => {
  const page = `One\ntwo. ${'word '.repeat(MOST_WORDS)}ends.\n\n- An item\n  goes on.\n\n    ${'code '.repeat(MOST_WORDS)}whom\n\n\`\`\`sh\ncode whom\n\`\`\`\n`;
  expect(splitSentences(page).map(countWords)).toEqual([2, MOST_WORDS + 1, 5]);
  expect(BANNED.filter((phrase) => phrase.test('It is read anew.'))).toHaveLength(1);
});

it.each(PAGES)('%s has short sentences, with an actor', (page) => {
  const text = readFileSync(page, 'utf8').replaceAll(/```[\s\S]*?```/g, '');
  expect(BANNED.flatMap((phrase) => phrase.exec(text)?.[0] ?? [])).toEqual([]);
  expect(splitSentences(text).filter((sentence) => countWords(sentence) > MOST_WORDS)).toEqual([]);
});
