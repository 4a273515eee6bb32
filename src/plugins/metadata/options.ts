/**
 * Facts about queries by labels, for `log` and `view`.
 */
import type { NameKey } from '../../wire/types.ts';

export interface MetadataOptions {
  /** As in CoreDNS, they have no effect: facts are collected for all names. */
  readonly zones: readonly NameKey[];
}
