/**
 * Reads one object by its name, if a list is not allowed.
 */
import { type ApiAccess, ask, readBody, readObjectBody } from './api-access.ts';
import type { ConnectionAttempt } from './attempt.ts';
import { ListWatchError } from './failure.ts';

/** An object may be 1.5 MB in etcd, and more as JSON. */
const OBJECT_LIMIT = 16 * 1024 * 1024;

/**
 * The version of an object does not show how recent the answer is, and may be too old to watch from. Without a version a watch
 * begins with the current state.
 */
const UNSET_VERSION = '';

/**
 * @param take called with the object, if it exists
 * @returns the version to watch from
 * @throws {ListWatchError} and errors that `attempt` explains
 */
export async function readOne(
  api: ApiAccess,
  path: string,
  attempt: ConnectionAttempt,
  take: (item: unknown) => void,
): Promise<string> {
  try {
    const response = await ask(api, path, attempt);
    attempt.expectTraffic(api.timing.pageSilence, { kind: 'network', words: 'an object stopped half way' });
    const octets = await readBody(response, OBJECT_LIMIT, attempt);
    take(readObjectBody(response, octets));
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new ListWatchError({ kind: 'server', words: 'an answer is not JSON' });
    // A missing object is not a failure.
    if (!(error instanceof ListWatchError) || error.failure.kind !== 'missing-kind') throw error;
  }
  return UNSET_VERSION;
}
