/**
 * Addresses of IPv4 for clients that have only IPv6 (RFC 6147).
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';

export interface Dns64Options {
  /** Of IPv6, with 32, 40, 48, 56, 64, 72, 80, 88 or 96 bits. */
  readonly prefix: AddressRange;
  /** Whether to replace AAAA records that there are. */
  readonly translatesAll: boolean;
  /** Whether clients over IPv4 get such answers too. */
  readonly servesIpv4: boolean;
}
