/**
 * Converts domain texts of kube-dns's configuration, which its own checks accept, to names that DNS messages can contain.
 */
import { NameError, parseName, ROOT, toKey } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';

/** @returns undefined for the root, and for texts that are not valid names */
export function readDomain(text: string): NameKey | undefined {
  try {
    const domain = toKey(parseName(text));
    return domain === ROOT ? undefined : domain;
  } catch (error) {
    if (error instanceof NameError) return undefined;
    throw error;
  }
}
