/**
 * Whether all handlers are ready, over HTTP.
 */
export interface ReadyOptions {
  /** `host:port` or `:port`. */
  readonly address: string;
  /** `until-ready`: once ready, it stays ready. */
  readonly monitor: 'until-ready' | 'continuously';
}
