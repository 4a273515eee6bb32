/**
 * Sets `spec.replicas` through the scale subresource: reads it, and writes only if it differs.
 */
import { type RestClient, RestError } from '@portolan/kubernetes/api/rest/rest-client.ts';
import { asRecord } from '@portolan/kubernetes/objects/trim/fields.ts';
import type { ScalePlace } from './scale-place.ts';

/** Conflicting writes before it waits for the next poll. */
const MAX_CONFLICTS = 5;

export interface Scaling {
  readonly before: number;
  /** The replicas now; without a write, those it would have. */
  readonly after: number;
  readonly isWritten: boolean;
}

/**
 * @param choose returns the wanted replicas, given the current ones
 * @param mayWrite called just before each write
 * @throws RestError
 */
export async function scale(
  rest: RestClient,
  { path }: ScalePlace,
  choose: (current: number) => number,
  mayWrite: () => boolean,
): Promise<Scaling> {
  for (let conflicts = 0; ; conflicts += 1) {
    const object = await rest.get(path);
    const spec = asRecord(object['spec']) ?? {};
    // The server omits 0.
    const before = spec['replicas'] ?? 0;
    if (typeof before !== 'number' || !Number.isInteger(before))
      throw new RestError(`spec.replicas of ${path} is no number: ${JSON.stringify(before)}`, undefined);
    const after = choose(before);
    if (after === before || !mayWrite()) return { before, after, isWritten: false };
    try {
      await rest.replace(path, { ...object, spec: { ...spec, replicas: after } });
      return { before, after, isWritten: true };
    } catch (error) {
      const isConflict = error instanceof RestError && error.status === 409;
      if (!isConflict || conflicts >= MAX_CONFLICTS) throw error;
    }
  }
}
