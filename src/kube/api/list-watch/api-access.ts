/**
 * What every part of list and watch needs to send requests to the API server, and how one is sent.
 */
import { type Clock, systemClock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { ApiResponse, Connection } from '../connection/types.ts';
import { isProtobuf, readObject } from '../protobuf/envelope.ts';
import type { Attempt } from './attempt.ts';
import { failureOf, ListWatchError } from './failure.ts';
import { defaultTiming, type ListWatchTiming } from './timing.ts';

export interface ApiAccess {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly log: Log;
  /** Numbers from 0 up to, but not, 1. */
  readonly random: () => number;
  readonly timing: ListWatchTiming;
}

/** What may be said of it; the rest has defaults. */
export interface ApiOptions {
  readonly connection: Connection;
  readonly log: Log;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly timing?: Partial<ListWatchTiming>;
}

export function makeApiAccess({ connection, log, clock, random, timing }: ApiOptions): ApiAccess {
  return {
    connection,
    log,
    clock: clock ?? systemClock,
    random: random ?? Math.random,
    timing: { ...defaultTiming, ...timing },
  };
}

/** What is asked for; a server or a kind without Protocol Buffers answers in JSON. */
const OBJECTS = 'application/vnd.kubernetes.protobuf,application/json';

/** A refusal's Status object is small; what is longer is not read. */
const REFUSAL_LIMIT = 64 * 1024;

/**
 * Asks, with credentials read anew once if they are refused.
 * @returns the answer, if its status is 200
 * @throws {ListWatchError} for any other status, and whatever `attempt` explains
 */
export async function ask(
  api: ApiAccess,
  path: string,
  attempt: Attempt,
  accept: string = OBJECTS,
): Promise<ApiResponse> {
  const { connect, answer } = api.timing;
  const headers = { accept };
  const options = { signal: attempt.signal, connectTimeout: connect, timeout: answer, headers };
  let response = await api.connection.request(path, options);
  if (response.status === 401) {
    response.discard();
    api.connection.refreshCredentials();
    response = await api.connection.request(path, options);
  }
  if (response.status === 200) return response;
  attempt.expectTraffic(api.timing.pageSilence, { kind: 'network', words: 'a refusal stopped half way' });
  // Some refusals are plain text, whatever was asked for: 404 of a group, 429 of the flow control, 504.
  const octets = await readBody(response, REFUSAL_LIMIT, attempt);
  const body = readStatus(response, octets) ?? octets.toString('utf8');
  throw new ListWatchError(
    failureOf(response.status, body, response.headers['retry-after'], api.clock.now()),
  );
}

/**
 * Reads a whole body.
 * @param limit in octets
 * @throws {ListWatchError} if it is longer
 */
export async function readBody(response: ApiResponse, limit: number, attempt: Attempt): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of response.body) {
    attempt.heard();
    length += piece.length;
    if (length > limit) {
      throw new ListWatchError({
        kind: 'server',
        words: `an answer is longer than allowed: ${limit} octets`,
      });
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces, length);
}

/**
 * The object of a body, in the encoding that the server says it has.
 *
 * @throws {SyntaxError | ProtobufError}
 */
export function readObjectBody(response: ApiResponse, octets: Buffer): unknown {
  if (isProtobuf(response.headers['content-type'])) return readObject(octets);
  return JSON.parse(octets.toString('utf8'));
}

/** @returns undefined for what is no object: a refusal in plain text, or none of the server itself */
function readStatus(response: ApiResponse, octets: Buffer): unknown {
  try {
    return readObjectBody(response, octets);
  } catch {
    return undefined;
  }
}
