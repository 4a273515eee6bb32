/**
 * ConfigMap: its texts. `binaryData` is not used.
 */
import type { ConfigMapObject } from '../objects.ts';
import { asRecord, asText } from './fields.ts';
import { nameless, readIdentity, type Trimmed } from './trimmed.ts';

export function trimConfigMap(raw: unknown): Trimmed<ConfigMapObject> {
  const identity = readIdentity(raw, true);
  if (identity === undefined) return nameless();
  const { namespace, name } = identity;
  const data = new Map<string, string>();
  for (const [key, value] of Object.entries(asRecord(asRecord(raw)?.['data']) ?? {})) {
    const text = asText(value);
    if (text !== undefined) data.set(key, text);
  }
  return { kind: 'object', object: { kind: 'ConfigMap', namespace, name, data } };
}
