/**
 * The settings of `local-name`.
 */
import type { NameKey } from '../../wire/types.ts';

export interface LocalNameOptions {
  readonly alias: NameKey;
  readonly name: NameKey;
}
