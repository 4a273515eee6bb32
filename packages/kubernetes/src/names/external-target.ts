/**
 * Interprets the field `externalName` of a service. The API server accepts addresses in it, and people write them.
 */
import { tryParseKey } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { canonicalAddress } from './endpoints.ts';

export type ExternalTarget =
  | { readonly kind: 'name'; readonly name: NameKey }
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'unusable' };

export function externalTarget(externalName: string): ExternalTarget {
  const address = canonicalAddress(externalName);
  if (address !== undefined) return { kind: 'address', address };
  const name = tryParseKey(externalName);
  return name === undefined ? { kind: 'unusable' } : { kind: 'name', name };
}
