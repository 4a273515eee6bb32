/**
 * Checks which names of Kubernetes objects can be labels of domain names.
 *
 * The API server checks all of them; manifests and older servers may not. An object whose name cannot be a label has no name
 * in DNS; this is not an error.
 */
import { isWithin } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';

/** Characters that a name of plain labels may have, its final dot included: 255 octets in wire form. */
const MAX_CHARACTERS = 254;

const OBJECT_NAME = /^[a-z0-9_][-a-z0-9_]{0,62}$/;
const HOSTNAME = /^[a-z0-9][-a-z0-9]{0,62}$/;
/** One octet shorter, for the underscore before it. */
const PORT_NAME = /^[a-z0-9][-a-z0-9_]{0,61}$/;

/** Whether the name of a namespace or service can be a label as it is. */
export function isLabel(name: string): boolean {
  return OBJECT_NAME.test(name);
}

/** The label of an endpoint's hostname. */
export function hostnameLabel(hostname: string | undefined): string | undefined {
  const label = hostname?.toLowerCase();
  return label !== undefined && HOSTNAME.test(label) ? label : undefined;
}

/** The label of a port's name, its underscore included (RFC 2782). */
export function portLabel(name: string): string | undefined {
  const label = name.toLowerCase();
  return PORT_NAME.test(label) ? `_${label}` : undefined;
}

/** `labels` (one or several, joined by dots) below `parent`; undefined if that is too long for a name. */
export function nameBelow(labels: string, parent: NameKey): NameKey | undefined {
  // Plain lower-case labels before a key make a key.
  return labels.length + 1 + parent.length <= MAX_CHARACTERS ? (`${labels}.${parent}` as NameKey) : undefined;
}

/** Whether a name is in the subtrees of services and pods. @param cluster the apex of the cluster's zone */
export function isOfKubernetes(name: NameKey, cluster: NameKey): boolean {
  // A key: labels before an apex.
  return ['svc', 'pod'].some((label) => isWithin(name, `${label}.${cluster}` as NameKey));
}
