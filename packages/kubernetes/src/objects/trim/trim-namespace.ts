/**
 * Namespace: its name, and if wanted what says which tenant it belongs to.
 */
import type { NamespaceObject } from '../objects.ts';
import { nameless, readIdentity, readLabels, readShared, type Trimmed } from './trimmed.ts';

export function trimNamespace(raw: unknown): Trimmed<NamespaceObject> {
  const identity = readIdentity(raw, false);
  if (identity === undefined) return nameless();
  return { kind: 'object', object: { kind: 'Namespace', name: identity.name } };
}

/** With its labels, and whether it is shared. */
export function trimLabelledNamespace(raw: unknown): Trimmed<NamespaceObject> {
  const trimmed = trimNamespace(raw);
  if (trimmed.kind !== 'object') return trimmed;
  return { kind: 'object', object: { ...trimmed.object, labels: readLabels(raw), ...readShared(raw) } };
}
