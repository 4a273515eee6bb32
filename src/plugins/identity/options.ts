/**
 * The settings of `identity`.
 */
export interface IdentityOptions {
  /** Whether `version.bind` and its siblings are answered; otherwise NOTIMP. */
  readonly identifies: boolean;
  /** Seconds, of the answers that stay the same. */
  readonly ttl: number;
  /** What `cachesize.bind` says. */
  readonly cacheSize: number;
}
