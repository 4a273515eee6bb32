/**
 * Zones that are fetched from primary servers.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { SocketAddress } from '@portolan/kernel/socket/addresses.ts';

export interface SecondaryOptions {
  /** If a zone is named twice, the last one counts. */
  readonly zones: readonly SecondaryZone[];
  /** Zones in which missing names go to the next handler; empty: in none. */
  readonly fallthrough: readonly NameKey[];
}

export interface SecondaryZone {
  readonly origin: NameKey;
  /** Asked in order; at least one. */
  readonly primaries: readonly SocketAddress[];
  /** The name of a key of `tsig` in the block; undefined: transfers are not signed. */
  readonly key?: NameKey | undefined;
  /** The zone lists further zones of its primary servers (RFC 9432). Default: it does not. */
  readonly catalog?: CatalogOptions | undefined;
}

export interface CatalogOptions {
  /** Members are within these. */
  readonly within: readonly NameKey[];
}
