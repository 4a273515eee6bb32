/**
 * The result of trimming an object from the API server or a file to the fields that DNS needs.
 */
import type { ObjectKey, WatchedObject } from '../objects.ts';
import { asRecord, asText } from './fields.ts';

export type Trimmed<Kind extends WatchedObject> =
  | { readonly kind: 'object'; readonly object: Kind }
  /** Valid, but without use for DNS: a slice of another address type, a pod that has ended. */
  | { readonly kind: 'left-out'; readonly key: ObjectKey }
  /** Cannot be understood. `key` is undefined if not even the name can be read. */
  | { readonly kind: 'malformed'; readonly key: ObjectKey | undefined; readonly problem: string };

/** Never throws, whatever `raw` is. */
export type Trim<Kind extends WatchedObject> = (raw: unknown) => Trimmed<Kind>;

export interface Identity {
  readonly namespace: string;
  readonly name: string;
  readonly key: ObjectKey;
}

/** @returns undefined if the object has no name, or `namespaced` and no namespace. */
export function readIdentity(raw: unknown, namespaced: boolean): Identity | undefined {
  const metadata = asRecord(asRecord(raw)?.['metadata']);
  const name = asText(metadata?.['name']);
  const namespace = namespaced ? asText(metadata?.['namespace']) : '';
  if (name === undefined || name === '' || namespace === undefined) return undefined;
  if (namespaced && namespace === '') return undefined;
  return { namespace, name, key: namespace === '' ? name : `${namespace}/${name}` };
}

/** All labels with a text. */
export function readLabels(raw: unknown): ReadonlyMap<string, string> {
  const labels = asRecord(asRecord(asRecord(raw)?.['metadata'])?.['labels']) ?? {};
  return new Map(
    Object.entries(labels).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
}

export function readLabel(raw: unknown, label: string): string | undefined {
  const metadata = asRecord(asRecord(raw)?.['metadata']);
  return asText(asRecord(metadata?.['labels'])?.[label]);
}

export function readAnnotation(raw: unknown, annotation: string): string | undefined {
  const metadata = asRecord(asRecord(raw)?.['metadata']);
  return asText(asRecord(metadata?.['annotations'])?.[annotation]);
}

/** `true`: clients of all tenants see the services of the namespace, or the service. */
export const SHARED_ANNOTATION = 'portolan-tenants/shared';

export function readShared(raw: unknown): { readonly isShared?: true } {
  return readAnnotation(raw, SHARED_ANNOTATION) === 'true' ? { isShared: true } : {};
}

export function nameless<Kind extends WatchedObject>(): Trimmed<Kind> {
  return { kind: 'malformed', key: undefined, problem: 'it has no metadata.name or no metadata.namespace' };
}
