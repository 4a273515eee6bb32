/**
 * Finds the class of a client by the longest prefix of its address: a reader searches sorted intervals.
 */
import {
  ADDRESS_WORDS,
  type AddressFamily,
  type AddressIntervals,
  divideAddresses,
  findInterval,
} from '@portolan/dns/address-intervals.ts';
import type { AddressRange } from '@portolan/dns/address-range.ts';
import { AF_INET, AF_INET6, IPV4_AT, IPV6_AT } from './linux.ts';

export class ClientPrefixes {
  readonly #ipv4: AddressIntervals;
  readonly #ipv6: AddressIntervals;

  /**
   * @param classes by range; of several prefixes that hold an address the longest wins, of equal ones the last
   * @param otherwise the class of all other clients
   */
  constructor(classes: ReadonlyMap<AddressRange, number>, otherwise: number) {
    this.#ipv4 = divideAddresses(classes, 'ipv4', otherwise);
    this.#ipv6 = divideAddresses(classes, 'ipv6', otherwise);
  }

  /** @param at where the client's socket address begins in `octets` */
  find(octets: Uint8Array, at: number): number {
    const family = (octets[at] ?? 0) | ((octets[at + 1] ?? 0) << 8);
    if (family === AF_INET) return find(this.#ipv4, 'ipv4', octets, at + IPV4_AT);
    return family === AF_INET6 ? find(this.#ipv6, 'ipv6', octets, at + IPV6_AT) : 0;
  }
}

function find(
  { starts, values }: AddressIntervals,
  family: AddressFamily,
  octets: Uint8Array,
  at: number,
): number {
  return values[findInterval(starts, 0, values.length, ADDRESS_WORDS[family], octets, at)] ?? 0;
}
