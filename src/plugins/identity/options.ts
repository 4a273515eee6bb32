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
}
