/**
 * The settings of `local-names`.
 */
import type { AddressRange } from '../../wire/address-range.ts';
import type { LocalSettings } from './local-handlers.ts';

export interface LocalNamesOptions {
  readonly settings: LocalSettings;
  /** Networks whose clients get the local addresses of their own network. */
  readonly networks: readonly AddressRange[];
}
