/**
 * Whether all handlers are ready, over HTTP.
 */
export interface ReadyOptions {
  /** `host:port` or `:port`. */
  readonly address: string;
  /** `until-ready`: ready once, ready ever after. */
  readonly monitor: 'until-ready' | 'continuously';
}
