/**
 * Who may tell a client's address by the PROXY protocol.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';
import { encodeSocketAddress, type SocketAddress } from '../../socket/addresses.ts';
import { ClientPrefixes } from '../../socket/client-prefixes.ts';

/**
 * What to do with the headers of a sender. `use`: the header says who the client is; without one, the sender is. `ignore`: the sender is
 * the client, and its header is removed. `reject`: the same without a header; with one, nothing is answered. `skip`: nobody looks
 * for a header.
 */
export const PROXY_POLICIES = ['use', 'ignore', 'reject', 'skip'] as const;
export type ProxyPolicy = (typeof PROXY_POLICIES)[number];

export interface ProxyProtocolPlan {
  /** The senders whose headers are used. */
  readonly trusted: readonly AddressRange[];
  /** For all other senders. */
  readonly others: ProxyPolicy;
  /** Undefined: each datagram has its header. */
  readonly sessions: ProxySessionsPlan | undefined;
}

/** How long the header of a datagram is that of the following ones of its sender. */
export interface ProxySessionsPlan {
  /** Milliseconds since the last datagram. */
  readonly milliseconds: number;
  /** The most senders at a time; the one that was silent for longest goes first. */
  readonly max: number;
}

/** Finds the policy for a sender. */
export class ProxyPolicies {
  readonly #prefixes: ClientPrefixes;

  constructor({ trusted, others }: Pick<ProxyProtocolPlan, 'trusted' | 'others'>) {
    const use = PROXY_POLICIES.indexOf('use');
    this.#prefixes = new ClientPrefixes(
      new Map(trusted.map((range) => [range, use])),
      PROXY_POLICIES.indexOf(others),
    );
  }

  /** @param sender may have a zone, which no range has */
  findFor({ address, port }: SocketAddress): ProxyPolicy {
    const [plain = ''] = address.split('%', 1);
    return this.find(encodeSocketAddress({ address: plain, port }), 0);
  }

  /** @param at where the sender's socket address begins in `octets` */
  find(octets: Uint8Array, at: number): ProxyPolicy {
    // Nobody else is trusted.
    return PROXY_POLICIES[this.#prefixes.find(octets, at)] ?? 'reject';
  }
}
