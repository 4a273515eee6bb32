/**
 * The settings of `identity`.
 */
export interface IdentityOptions {
  /** Whether `version.bind` and its siblings are answered; otherwise NOTIMP. */
  readonly identifies: boolean;
  /** TTL of constant answers, in seconds. */
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
