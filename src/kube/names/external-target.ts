/**
 * Interprets the field `externalName` of a service. The API server accepts addresses in it, and people write them.
 */
import { NameError, parseName, toKey } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';
import { canonicalAddress } from './endpoints.ts';

export type ExternalTarget =
  | { readonly kind: 'name'; readonly name: NameKey }
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'unusable' };

export function externalTarget(externalName: string): ExternalTarget {
  const address = canonicalAddress(externalName);
  if (address !== undefined) return { kind: 'address', address };
  try {
    return { kind: 'name', name: toKey(parseName(externalName)) };
  } catch (error) {
    if (error instanceof NameError) return { kind: 'unusable' };
    throw error;
  }
}
