/**
 * Access to the API server for list and watch: its dependencies, and the function that sends a request.
 */
import { type Clock, systemClock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { isProtobuf, readObject } from '../../protobuf/envelope.ts';
import type { ApiResponse, Connection } from '../connection/types.ts';
import type { ConnectionAttempt } from './attempt.ts';
import { ListWatchError, toFailure } from './failure.ts';
import { defaultTiming, type ListWatchTiming } from './timing.ts';

export interface ApiAccess {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly log: Log;
  /** Numbers from 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
  readonly timing: ListWatchTiming;
}

/** Options of `ApiAccess`; the rest has defaults. */
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

/** Accepted types; a server or a kind without Protocol Buffers answers in JSON. */
const OBJECTS = 'application/vnd.kubernetes.protobuf,application/json';

/** Octets of a refusal's Status object; longer bodies are not read. */
const REFUSAL_LIMIT = 64 * 1024;

/**
 * Sends a request; if the credentials are refused, reads them again and retries once.
 * @returns the answer, if its status is 200
 * @throws {ListWatchError} for any other status, and errors that `attempt` explains
 */
export async function ask(
  api: ApiAccess,
  path: string,
  attempt: ConnectionAttempt,
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
  // Some refusals are plain text whatever the Accept header says: 404 of a group, 429 of the flow control, 504.
  const octets = await readBody(response, REFUSAL_LIMIT, attempt);
  const body = readStatus(response, octets) ?? octets.toString('utf8');
  throw new ListWatchError(
    toFailure(response.status, body, response.headers['retry-after'], api.clock.now()),
  );
}

/**
 * Reads a whole body.
 * @param limit in octets
 * @throws {ListWatchError} if it is longer
 */
export async function readBody(
  response: ApiResponse,
  limit: number,
  attempt: ConnectionAttempt,
): Promise<Buffer> {
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
 * Decodes the object of a body by its Content-Type.
 *
 * @throws {SyntaxError | ProtobufError}
 */
export function readObjectBody(response: ApiResponse, octets: Buffer): unknown {
  if (isProtobuf(response.headers['content-type'])) return readObject(octets);
  return JSON.parse(octets.toString('utf8'));
}

/** @returns undefined if the body is not an object: a refusal in plain text, or from a proxy */
function readStatus(response: ApiResponse, octets: Buffer): unknown {
  try {
    return readObjectBody(response, octets);
  } catch {
    return undefined;
  }
}
