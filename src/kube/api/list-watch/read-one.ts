/**
 * One object by its name, where no list is allowed.
 */
import { type ApiAccess, ask, readBody, readObjectBody } from './api-access.ts';
import type { Attempt } from './attempt.ts';
import { ListWatchError } from './failure.ts';

/** An object may be 1.5 MB in etcd, and more as JSON. */
const OBJECT_LIMIT = 16 * 1024 * 1024;

/**
 * The version of an object says nothing of how new the answer is, and may be too old to watch from. Without one a watch begins
 * with what there is now.
 */
const UNSET_VERSION = '';

/**
 * @param take called with the object; not called if there is none
 * @returns where a watch goes on
 * @throws {ListWatchError} and whatever `attempt` explains
 */
export async function readOne(
  api: ApiAccess,
  path: string,
  attempt: Attempt,
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
    // That there is no such object is no fault.
    if (!(error instanceof ListWatchError) || error.failure.kind !== 'missing-kind') throw error;
  }
  return UNSET_VERSION;
}
