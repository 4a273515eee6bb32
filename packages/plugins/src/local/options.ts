/**
 * Names of the host itself: localhost, and the reverse zones of 127 and 0.
 */
export interface LocalOptions {
  /** Whether any other name with `localhost.` in front is answered too: search lists produce such names. */
  readonly answersLocalhostPrefix: boolean;
}
