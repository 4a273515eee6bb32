/**
 * A list, page by page, with the resource version left unset: a consistent read, and one that heeds `limit`.
 */
import { asRecord, asText } from '../trim/fields.ts';
import { type ApiAccess, ask } from './api-access.ts';
import type { Attempt } from './attempt.ts';
import { ListWatchError } from './failure.ts';
import { ListReader } from './list-reader.ts';

export interface Page {
  /** How many objects it held. */
  readonly count: number;
  readonly resourceVersion: string;
  /** Where the next page begins; undefined on the last. */
  readonly next: string | undefined;
  /** How many objects follow after this page; undefined where the server does not say. */
  readonly remaining: number | undefined;
}

/**
 * @param take called with each object as it arrives; the page may still turn out to be broken
 * @throws {ListWatchError} and whatever `attempt` explains
 */
export async function readPage(
  api: ApiAccess,
  path: string,
  limit: number,
  next: string | undefined,
  attempt: Attempt,
  take: (item: unknown) => void,
): Promise<Page> {
  const query = new URLSearchParams({ limit: String(limit) });
  if (next !== undefined) query.set('continue', next);
  const response = await ask(api, `${path}?${query}`, attempt);
  attempt.expectTraffic(api.timing.pageSilence, { kind: 'network', words: 'a list stopped half way' });
  let count = 0;
  const reader = new ListReader((item) => {
    count += 1;
    take(item);
  });
  for await (const octets of response.body) {
    attempt.heard();
    reader.push(octets);
  }
  return readEnvelope(reader.finish(), count);
}

/**
 * Reads all pages. A 410 in the middle is thrown like any other: the whole list begins anew.
 * @param take called with each object
 * @returns the resource version that the list is consistent at
 * @throws {ListWatchError} and whatever `attempt` explains
 */
export async function listPages(
  api: ApiAccess,
  path: string,
  limit: number,
  attempt: Attempt,
  take: (item: unknown) => void,
): Promise<string> {
  let page = await readPage(api, path, limit, undefined, attempt, take);
  const { resourceVersion } = page;
  while (page.next !== undefined) {
    const asked = page.next;
    page = await readPage(api, path, limit, asked, attempt, take);
    if (page.next === asked) throw broken('the server gives the same page again and again');
  }
  return resourceVersion;
}

function readEnvelope(envelope: unknown, count: number): Page {
  const metadata = asRecord(asRecord(envelope)?.['metadata']);
  const resourceVersion = asText(metadata?.['resourceVersion']);
  if (resourceVersion === undefined || resourceVersion === '') {
    throw broken('an answer is not a list: it has no resource version');
  }
  const next = asText(metadata?.['continue']);
  const remaining = metadata?.['remainingItemCount'];
  return {
    count,
    resourceVersion,
    next: next === '' ? undefined : next,
    remaining: typeof remaining === 'number' ? remaining : undefined,
  };
}

function broken(words: string): ListWatchError {
  return new ListWatchError({ kind: 'server', words });
}
