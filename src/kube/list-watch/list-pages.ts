/**
 * A list, page by page, with the resource version left unset: a consistent read, and one that heeds `limit`.
 */
import { asRecord, asText } from '../trim/fields.ts';
import { type ApiAccess, ask, parseJson, readBody } from './api-access.ts';
import type { Attempt } from './attempt.ts';
import { ListWatchError } from './failure.ts';

export interface Page {
  readonly items: readonly unknown[];
  readonly resourceVersion: string;
  /** Where the next page begins; undefined on the last. */
  readonly next: string | undefined;
  /** How many objects follow after this page; undefined where the server does not say. */
  readonly remaining: number | undefined;
}

/** Far above any page of 500 objects with the limits of Kubernetes (1.5 MB an object is what etcd takes at most). */
const PAGE_LIMIT = 256 * 1024 * 1024;

/** @throws {ListWatchError} */
export async function readPage(
  api: ApiAccess,
  path: string,
  limit: number,
  next: string | undefined,
  attempt: Attempt,
): Promise<Page> {
  const query = new URLSearchParams({ limit: String(limit) });
  if (next !== undefined) query.set('continue', next);
  const response = await ask(api, `${path}?${query}`, attempt);
  attempt.expectTraffic(api.timing.pageSilence, { kind: 'network', words: 'a list stopped half way' });
  return parsePage(await readBody(response, PAGE_LIMIT, attempt));
}

/**
 * Reads all pages. A 410 in the middle is thrown like any other: the whole list begins anew.
 * @param take called with each page before the next is asked for
 * @returns the resource version that the list is consistent at
 * @throws {ListWatchError}
 */
export async function listPages(
  api: ApiAccess,
  path: string,
  limit: number,
  attempt: Attempt,
  take: (items: readonly unknown[]) => void,
): Promise<string> {
  let page = await readPage(api, path, limit, undefined, attempt);
  const { resourceVersion } = page;
  take(page.items);
  while (page.next !== undefined) {
    const asked = page.next;
    page = await readPage(api, path, limit, asked, attempt);
    take(page.items);
    if (page.next === asked) throw broken('the server gives the same page again and again');
  }
  return resourceVersion;
}

function parsePage(text: string): Page {
  const list = asRecord(parseJson(text));
  const metadata = asRecord(list?.['metadata']);
  const items = list?.['items'] ?? [];
  const resourceVersion = asText(metadata?.['resourceVersion']);
  if (!Array.isArray(items) || resourceVersion === undefined || resourceVersion === '') {
    throw broken('the answer is not a list');
  }
  const next = asText(metadata?.['continue']);
  const remaining = metadata?.['remainingItemCount'];
  return {
    items,
    resourceVersion,
    next: next === '' ? undefined : next,
    remaining: typeof remaining === 'number' ? remaining : undefined,
  };
}

function broken(words: string): ListWatchError {
  return new ListWatchError({ kind: 'server', words });
}
