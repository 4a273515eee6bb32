/**
 * The settings of `local-names`.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';
import type { LocalSettings } from './local-handlers.ts';

export interface LocalNamesOptions {
  readonly settings: LocalSettings;
  /** Networks whose clients get the local addresses of their own network. */
  readonly networks: readonly AddressRange[];
}

/** Places of its further handlers. */
export const LOCAL_PLACES = {
  /** NODATA in place of REFUSED for names that `local-names` knows. */
  nodata: 'hosts-nodata',
  /** Its rules for questions that no earlier plugin answers. */
  rules: 'question-rules',
} as const;
