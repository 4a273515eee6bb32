/**
 * The options of local names as data. Hosts files are separate.
 */
import type { NameKey, ResourceRecord } from '@portolan/dns/types.ts';

export interface LocalNamesPlan {
  /** Seconds, for the names of hosts files. */
  readonly ttl: number;
  /** Whether plain names of hosts files also get the domain of their address. */
  readonly expandsHosts: boolean;
  readonly domain: NameKey | undefined;
  /** Domains for ranges of addresses; the first match counts. */
  readonly rangeDomains: readonly RangeDomain[];
  /** Read before hosts files. */
  readonly hostRecords: readonly HostRecord[];
  readonly cnames: readonly Cname[];
  readonly records: readonly ResourceRecord[];
  /** The mail exchange of names in hosts files: none, the name itself, or one for all. */
  readonly mxOfHosts:
    | { readonly kind: 'none' | 'self' }
    | { readonly kind: 'target'; readonly target: NameKey };
  /** Whether clients get only addresses of their own network, if a name has any there. */
  readonly localisesQueries: boolean;
}

/** A domain for the addresses from `first` to `last`. */
export interface RangeDomain {
  readonly domain: NameKey;
  readonly first: string;
  readonly last: string;
}

export interface HostRecord {
  /** The first gets the PTR. */
  readonly names: readonly NameKey[];
  readonly ipv4: string | undefined;
  readonly ipv6: string | undefined;
  /** Seconds. */
  readonly ttl: number;
}

export interface Cname {
  readonly alias: NameKey;
  readonly target: NameKey;
  /** Seconds. */
  readonly ttl: number;
}

/** A plan with only hosts files. @param ttl seconds */
export function hostsOnly(ttl: number): LocalNamesPlan {
  return {
    ttl,
    expandsHosts: false,
    domain: undefined,
    rangeDomains: [],
    hostRecords: [],
    cnames: [],
    records: [],
    mxOfHosts: { kind: 'none' },
    localisesQueries: false,
  };
}
