/**
 * What the server says of itself in class CHAOS.
 */
export type ChaosOptions = CoreDnsIdentity | DnsmasqIdentity;

/** Under the names that CoreDNS answers; other names pass. */
export interface CoreDnsIdentity {
  readonly kind: 'coredns';
  /** At most 255 characters. Undefined: the version of CoreDNS that Portolan replaces. */
  readonly version: string | undefined;
  /** Sorted, without duplicates. Undefined: ours. */
  readonly authors: readonly string[] | undefined;
}

/** Under the names that dnsmasq and kube-dns answer. */
export interface DnsmasqIdentity {
  readonly kind: 'dnsmasq';
  /** Whether `version.bind` and its siblings are answered; otherwise NOTIMP. */
  readonly identifies: boolean;
  /** TTL of constant answers, in seconds. Counts have TTL 0. */
  readonly ttl: number;
  /** The answer for `cachesize.bind`. */
  readonly cacheSize: number;
  /** Whether `hostname.bind` and `id.server` are answered too. Default: no, as in dnsmasq. */
  readonly namesHost?: boolean;
  /** `all`: `version.server` too; `none`: not even `version.bind`. Default: `version.bind` alone, as in dnsmasq. */
  readonly version?: 'all' | 'none';
  /** Whether counts are answered, and all further names with NOTIMP; otherwise the next handler answers them. Default: yes. */
  readonly hasCounts?: boolean;
}
