/**
 * How many sockets listen on each address.
 */
export interface MultisocketOptions {
  /** 1 to 1024; undefined: as many as processors. */
  readonly sockets: number | undefined;
}
