/**
 * Namespace: DNS needs only its name.
 */
import type { NamespaceObject } from '../objects.ts';
import { nameless, readIdentity, type Trimmed } from './trimmed.ts';

export function trimNamespace(raw: unknown): Trimmed<NamespaceObject> {
  const identity = readIdentity(raw, false);
  if (identity === undefined) return nameless();
  return { kind: 'object', object: { kind: 'Namespace', name: identity.name } };
}
