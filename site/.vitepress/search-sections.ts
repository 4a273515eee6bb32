/**
 * What the search of the site finds: the sections of a page, and each row of a table of messages, flags or metrics for itself.
 */

export interface SearchSection {
  readonly anchor?: string;
  /** Its headings, from the title of the page on. */
  readonly titles: string[];
  readonly text: string;
}

const HEADING = /<h(\d)[^>]*>(.*?)<a[^>]* href="#([^"]*)"[^>]*>.*?<\/a><\/h\1>/gi;
const ROW = /<tr id="([^"]+)">\s*<td[^>]*>([\s\S]*?)<\/td>([\s\S]*?)<\/tr>/g;

/** @param html of a page, as rendered */
export function* splitIntoSections(html: string): Generator<SearchSection> {
  const [, ...parts] = html.split(HEADING);
  const titles: string[] = [];
  for (let index = 0; index < parts.length; index += 4) {
    const [level = '1', heading = '', anchor = '', content = ''] = parts.slice(index, index + 4);
    titles.length = Number(level) - 1;
    titles[Number(level) - 1] = extractText(heading);
    const chain = titles.filter(Boolean);
    yield { anchor, titles: [...chain], text: extractText(content.replaceAll(ROW, '')) };
    for (const [, row = '', name = '', rest = ''] of content.matchAll(ROW))
      yield { anchor: row, titles: [...chain, extractText(name)], text: extractText(rest) };
  }
}

function extractText(html: string): string {
  return html.replaceAll(/<[^>]*>/g, ' ').trim();
}
