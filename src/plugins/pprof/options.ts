/**
 * Profiles of the process, over HTTP.
 */
export interface PprofOptions {
  /** `host:port` or `:port`. */
  readonly address: string;
  /** The rate of the block profile; 0: off. */
  readonly blockRate: number;
}
