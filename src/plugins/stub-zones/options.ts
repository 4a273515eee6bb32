/**
 * The settings of `stub-zones`.
 */
import type { NameKey } from '../../wire/types.ts';

export interface StubZonesOptions {
  readonly zones: readonly NameKey[];
  /** The name of the plugin that gets their queries. */
  readonly to: string;
}
