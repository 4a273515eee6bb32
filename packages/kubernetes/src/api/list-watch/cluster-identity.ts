/**
 * Distinguishes clusters with the same address by the UID of the namespace `kube-system`.
 */
import { asRecord, asText } from '../../objects/trim/fields.ts';
import { type ApiAccess, ask, readBody, readObjectBody } from './api-access.ts';
import { ConnectionAttempt } from './attempt.ts';

/** Milliseconds: a slow server must not delay a start. */
const PATIENCE = 2_000;
const OBJECT_LIMIT = 1024 * 1024;

/** Needs the permission to get this namespace. @returns undefined if the UID cannot be read now. Never rejects. */
export async function findClusterIdentity(api: ApiAccess): Promise<string | undefined> {
  const attempt = new ConnectionAttempt(new AbortController().signal, api.clock);
  attempt.expectEnd(PATIENCE, { kind: 'network', words: 'the server did not say who it is in time' });
  try {
    const response = await ask(api, '/api/v1/namespaces/kube-system', attempt);
    const namespace = readObjectBody(response, await readBody(response, OBJECT_LIMIT, attempt));
    const uid = asText(asRecord(asRecord(namespace)?.['metadata'])?.['uid']);
    return uid === '' ? undefined : uid;
  } catch (error) {
    api.log.debug('identity of the cluster not known', { reason: attempt.explain(error).words });
    return undefined;
  } finally {
    attempt.close();
  }
}
