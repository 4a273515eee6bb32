/**
 * What every part of list and watch needs to talk to the API server, and the way it asks.
 */
import { type Clock, systemClock } from '../../ground/clock.ts';
import type { Log } from '../../ground/log.ts';
import type { ApiResponse, Connection } from '../connection/types.ts';
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
    ...{ connection, log },
    clock: clock ?? systemClock,
    random: random ?? Math.random,
    timing: { ...defaultTiming, ...timing },
  };
}

/** A refusal's Status object is small; what is longer is not read. */
const REFUSAL_LIMIT = 64 * 1024;

/**
 * Asks, with credentials read anew once if they are refused.
 * @returns the answer, if its status is 200
 * @throws {ListWatchError} for any other status, and whatever `attempt` explains
 */
export async function ask(api: ApiAccess, path: string, attempt: Attempt): Promise<ApiResponse> {
  const options = { signal: attempt.signal, timeout: api.timing.answer };
  let response = await api.connection.request(path, options);
  if (response.status === 401) {
    response.discard();
    api.connection.refreshCredentials();
    response = await api.connection.request(path, options);
  }
  if (response.status === 200) return response;
  attempt.expectTraffic(api.timing.pageSilence, { kind: 'network', words: 'a refusal stopped half way' });
  const body = parseJson(await readBody(response, REFUSAL_LIMIT, attempt));
  throw new ListWatchError(
    failureOf(response.status, body, response.headers['retry-after'], api.clock.now()),
  );
}

/**
 * Reads a whole body.
 * @param limit in octets
 * @throws {ListWatchError} if it is longer
 */
export async function readBody(response: ApiResponse, limit: number, attempt: Attempt): Promise<string> {
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
  return Buffer.concat(pieces, length).toString('utf8');
}

/** @returns undefined for what is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
