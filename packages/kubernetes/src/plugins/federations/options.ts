/**
 * The settings of `federations`.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { Federation } from './federation.ts';

export interface FederationsOptions {
  /** The cluster's. */
  readonly domain: NameKey;
  readonly federations: readonly Federation[];
}
