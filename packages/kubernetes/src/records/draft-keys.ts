/**
 * The keys of drafts, from the names in an object's metadata.
 */
import {
  appendLabel,
  isObjectLabel,
  type Octets,
  type ServiceDraft,
  type SliceDraft,
} from '@portolan/kernel/records/drafts.ts';
import type { ObjectNames } from './drafted.ts';
import type { MetadataReader } from './metadata.ts';
import type { OctetSpan } from './protobuf-fields.ts';

/** The names of an object; undefined if one is missing. */
export function readObjectNames(
  octets: Buffer,
  { name, namespace }: MetadataReader,
): ObjectNames | undefined {
  if (name.start === name.end || namespace.start === namespace.end) return undefined;
  return {
    namespace: octets.toString('utf8', namespace.start, namespace.end),
    name: octets.toString('utf8', name.start, name.end),
  };
}

export function writeServiceKey(
  draft: ServiceDraft,
  octets: Uint8Array,
  { name, namespace }: MetadataReader,
): void {
  draft.isUsable = isLabel(octets, name) && isLabel(octets, namespace);
  if (!draft.isUsable) return;
  appendLabel(draft.key, octets, name.start, name.end);
  appendLabel(draft.key, octets, namespace.start, namespace.end);
}

export function writeSliceKeys(
  draft: SliceDraft,
  octets: Uint8Array,
  { name, namespace, service }: MetadataReader,
): void {
  draft.isUsable = isLabel(octets, service) && isLabel(octets, namespace);
  if (!draft.isUsable) return;
  appendRange(draft.key, octets, namespace);
  draft.key.append(octets, name.start, name.end);
  appendRange(draft.service, octets, service);
  appendRange(draft.service, octets, namespace);
}

const isLabel = (octets: Uint8Array, { start, end }: OctetSpan): boolean => isObjectLabel(octets, start, end);

const appendRange = (to: Octets, octets: Uint8Array, { start, end }: OctetSpan): void =>
  appendLabel(to, octets, start, end);
