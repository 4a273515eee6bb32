/**
 * Zones from all files of a folder whose names match a pattern.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Pattern } from '@portolan/kernel/base/pattern.ts';

export interface AutoOptions {
  /** Names outside these zones go to the next handler. */
  readonly zones: readonly NameKey[];
  /** Undefined: no files. */
  readonly directory: string | undefined;
  readonly pattern: Pattern;
  /** The origin of a zone, with groups of the pattern in braces: `{1}`. */
  readonly origin: string;
  /** Milliseconds between two checks of the folder; 0: it is read once. */
  readonly reload: number;
}
