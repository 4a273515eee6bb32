/**
 * A watch: opened with bookmarks and its own timeout, then read event by event until either side ends it.
 */
import type { WatchedObject } from '../../objects/objects.ts';
import { isProtobuf } from '../../protobuf/envelope.ts';
import { FrameSplitter } from '../../protobuf/frame-splitter.ts';
import type { ApiResponse } from '../connection/types.ts';
import { type ApiAccess, ask } from './api-access.ts';
import type { ConnectionAttempt } from './attempt.ts';
import { type Failure, ListWatchError } from './failure.ts';
import { LineSplitter } from './line-splitter.ts';
import { type Resource, withQuery } from './resource.ts';
import { readWatchEvent, readWatchFrame, type WatchEvent } from './watch-event.ts';

/** An object may be 1.5 MB in etcd, and more as JSON. */
const EVENT_LIMIT = 16 * 1024 * 1024;

/** A collection, or one object in it. */
export type WatchedPlace = Pick<Resource<WatchedObject>, 'path' | 'only' | 'accept'>;

const REFUSES_WATCH_LIST = /^4(00|22)\b/;

/**
 * Continues from `resourceVersion`.
 * @throws {ListWatchError}
 */
export function openWatch(
  api: ApiAccess,
  place: WatchedPlace,
  resourceVersion: string,
  attempt: ConnectionAttempt,
): Promise<ApiResponse> {
  return open(api, place, { resourceVersion }, attempt);
}

/**
 * Requests all objects as events, then the changes (KEP-3157).
 * @throws {ListWatchError} of kind `no-watch-list` if the server does not support it
 */
export async function openWatchList(
  api: ApiAccess,
  place: WatchedPlace,
  attempt: ConnectionAttempt,
): Promise<ApiResponse> {
  const query = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' };
  try {
    return await open(api, place, query, attempt);
  } catch (error) {
    const failure = attempt.explain(error);
    if (failure.kind !== 'server' || !REFUSES_WATCH_LIST.test(failure.words)) throw error;
    throw new ListWatchError({ kind: 'no-watch-list', words: failure.words });
  }
}

/**
 * Passes on each event until the server ends the stream.
 * @param take may throw a {@link ListWatchError} to end it
 * @throws {ListWatchError}
 */
export async function followWatch(
  api: ApiAccess,
  response: ApiResponse,
  attempt: ConnectionAttempt,
  take: (event: WatchEvent) => void,
): Promise<void> {
  const now = () => api.clock.now();
  const splitter = isProtobuf(response.headers['content-type'])
    ? split(new FrameSplitter(EVENT_LIMIT), (frame) => take(readWatchFrame(frame, now())))
    : split(new LineSplitter(EVENT_LIMIT), (line) => take(readWatchEvent(line, now())));
  for await (const octets of response.body) {
    attempt.heard();
    splitter.push(octets);
  }
  if (splitter.held() > 0) {
    throw new ListWatchError({ kind: 'network', words: 'the watch ended in the middle of an event' });
  }
}

interface Splitter<Piece> {
  readonly held: number;
  push(octets: Uint8Array, take: (piece: Piece) => void): void;
}

/** A splitter of either encoding, bound to the consumer of its events. */
function split<Piece>(splitter: Splitter<Piece>, take: (piece: Piece) => void) {
  return { push: (octets: Uint8Array) => splitter.push(octets, take), held: () => splitter.held };
}

async function open(
  api: ApiAccess,
  { path, only, accept }: WatchedPlace,
  more: Readonly<Record<string, string>>,
  attempt: ConnectionAttempt,
): Promise<ApiResponse> {
  const { minWatch, maxWatch, watchGrace, answer } = api.timing;
  const lasts = minWatch + api.random() * (maxWatch - minWatch);
  const timeoutSeconds = String(Math.round(lasts / 1000));
  const query = { watch: 'true', allowWatchBookmarks: 'true', timeoutSeconds, ...more };
  const one = only === undefined ? {} : { fieldSelector: `metadata.name=${only}` };
  attempt.expectEnd(lasts + answer + watchGrace, overdue);
  const response = await ask(api, withQuery(path, { ...query, ...one }), attempt, accept);
  attempt.expectEnd(lasts + watchGrace, overdue);
  // A quiet watch may send nothing until its end: servers need not send bookmarks.
  attempt.allowSilence();
  return response;
}

const overdue: Failure = { kind: 'network', words: 'the watch did not end when its time was over' };
