/**
 * Domains as texts of kube-dns's configuration, from what passed its own checks to what a name on the wire can be.
 */
import { NameError, parseName, ROOT, toKey } from '../../wire/name.ts';
import type { NameKey } from '../../wire/types.ts';

/** @returns nothing for the root, and for what no name can be */
export function readDomain(text: string): NameKey | undefined {
  try {
    const domain = toKey(parseName(text));
    return domain === ROOT ? undefined : domain;
  } catch (error) {
    if (error instanceof NameError) return undefined;
    throw error;
  }
}
