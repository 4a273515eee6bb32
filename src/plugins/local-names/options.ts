/**
 * The settings of `local-names`.
 */
import type { AddressRange } from '../../wire/address-range.ts';
import type { LocalSettings } from './local-handlers.ts';

export interface LocalNamesOptions {
  readonly settings: LocalSettings;
  /** The networks of clients that local addresses are chosen for. */
  readonly networks: readonly AddressRange[];
}
