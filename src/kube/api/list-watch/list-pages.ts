/**
 * Reads lists: complete from the watch cache of the API server, or page by page from its store.
 */

import { asRecord, asText } from '../../objects/trim/fields.ts';
import { isProtobuf } from '../protobuf/envelope.ts';
import { ProtobufListReader } from '../protobuf/protobuf-list-reader.ts';
import { type ApiAccess, ask } from './api-access.ts';
import type { Attempt } from './attempt.ts';
import { ListWatchError } from './failure.ts';
import { ListReader } from './list-reader.ts';
import { withQuery } from './resource.ts';

export interface Page {
  /** Objects in the page. */
  readonly count: number;
  readonly resourceVersion: string;
  /** Where the next page begins; undefined on the last. */
  readonly next: string | undefined;
  /** Objects after this page; undefined if the server does not say. */
  readonly remaining: number | undefined;
}

/** How new a list must be. */
export type Freshness =
  /** Any version that the cache holds, which costs the server least. */
  | { readonly kind: 'any' }
  | { readonly kind: 'not-older-than'; readonly resourceVersion: string }
  /** As new as the store: a consistent read. */
  | { readonly kind: 'latest' };

const PAGE_SIZE = 500;
/** Metadata only, for counting: 0.8 kB for a cluster of ten thousand objects. */
const METADATA_ONLY = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';

/**
 * @param take called with each object as it arrives; the list may still turn out to be broken
 * @returns the resource version that the list is consistent at
 * @throws {ListWatchError} and errors that `attempt` explains. After a 410 in the middle the list starts from scratch
 */
export async function listAll(
  api: ApiAccess,
  path: string,
  freshness: Freshness,
  attempt: Attempt,
  take: (item: unknown) => void,
): Promise<string> {
  const limit = String(PAGE_SIZE);
  let page = await readPage(api, path, firstQuery(freshness, limit), attempt, take);
  const { resourceVersion } = page;
  while (page.next !== undefined) {
    const asked = page.next;
    page = await readPage(api, path, { limit, continue: asked }, attempt, take);
    if (page.next === asked) throw broken('the server gives the same page again and again');
  }
  return resourceVersion;
}

function firstQuery(freshness: Freshness, limit: string): Readonly<Record<string, string>> {
  switch (freshness.kind) {
    case 'latest':
      return { limit };
    // Without a limit: with one the server would read its store instead of its cache.
    case 'any':
      return { resourceVersion: '0' };
    case 'not-older-than':
      return { resourceVersion: freshness.resourceVersion, resourceVersionMatch: 'NotOlderThan' };
  }
}

/** Counts the objects by a list with limit 1. */
export function countObjects(api: ApiAccess, path: string, attempt: Attempt): Promise<Page> {
  return readPage(api, path, { limit: '1' }, attempt, () => {}, METADATA_ONLY);
}

async function readPage(
  api: ApiAccess,
  path: string,
  query: Readonly<Record<string, string>>,
  attempt: Attempt,
  take: (item: unknown) => void,
  accept?: string,
): Promise<Page> {
  const response = await ask(api, withQuery(path, query), attempt, accept);
  attempt.expectTraffic(api.timing.pageSilence, { kind: 'network', words: 'a list stopped half way' });
  let count = 0;
  const takeItem = (item: unknown) => {
    count += 1;
    take(item);
  };
  const reader = isProtobuf(response.headers['content-type'])
    ? new ProtobufListReader(takeItem)
    : new ListReader(takeItem);
  for await (const octets of response.body) {
    attempt.heard();
    reader.push(octets);
  }
  return readEnvelope(reader.finish(), count);
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
