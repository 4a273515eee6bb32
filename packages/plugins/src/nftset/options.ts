/**
 * Sets of nftables that get the addresses of answers, by domain.
 */
import type { NameKey } from '@portolan/dns/types.ts';

export interface NftsetOptions {
  readonly rules: readonly NftsetRule[];
}

export interface NftsetRule {
  /** With all names below them; the root: all names. */
  readonly domains: readonly NameKey[];
  readonly sets: readonly NftSet[];
  /** Whether a client gets no answer while an address is not in its sets. */
  readonly isClosed: boolean;
}

export interface NftSet {
  readonly family: NftFamily;
  readonly table: string;
  readonly name: string;
  /** Addresses that it gets; undefined: those of its type. */
  readonly only: 'ipv4' | 'ipv6' | undefined;
}

export const NFT_FAMILIES = ['ip', 'ip6', 'inet', 'arp', 'bridge', 'netdev'] as const;
export type NftFamily = (typeof NFT_FAMILIES)[number];
