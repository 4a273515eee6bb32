/**
 * Converts domain texts of kube-dns's configuration, which its own checks accept, to names that DNS messages can contain.
 */
import { ROOT, tryParseKey } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';

/** @returns undefined for the root, and for texts that are not valid names */
export function readDomain(text: string): NameKey | undefined {
  const domain = tryParseKey(text);
  return domain === ROOT ? undefined : domain;
}
