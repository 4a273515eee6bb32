/**
 * Limits of the listeners of `https://`.
 */
export interface HttpsOptions {
  /** Connections of all clients, from 0; 0: as many as over TCP. Default: 200. */
  readonly maxConnections: number | undefined;
}
