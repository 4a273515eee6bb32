/**
 * An object of any kind, for plugins of others: what their own code keeps of it.
 */
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { OtherObject } from '../objects.ts';
import { nameless, readIdentity, type Trimmed } from './trimmed.ts';

/** What to keep of an object; undefined: nothing. What it throws makes the object malformed. */
export type ReadOther = (object: unknown) => unknown;

export function trimOther(raw: unknown, read: ReadOther): Trimmed<OtherObject> {
  const identity = readIdentity(raw, true) ?? readIdentity(raw, false);
  if (identity === undefined) return nameless();
  const { key } = identity;
  try {
    const value = read(raw);
    return value === undefined
      ? { kind: 'left-out', key }
      : { kind: 'object', object: { kind: 'Other', key, value } };
  } catch (error) {
    return { kind: 'malformed', key, problem: describeError(error) };
  }
}
