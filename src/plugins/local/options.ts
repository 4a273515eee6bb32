/**
 * Names of the host itself: localhost, and the reverse zones of 127 and 0.
 */
export interface LocalOptions {
  /** `localhost.` in front of any other name is answered too, as searching through domains makes it. */
  readonly answersLocalhostPrefix: boolean;
}
