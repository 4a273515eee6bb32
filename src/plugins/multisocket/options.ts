/**
 * How many sockets listen on each address.
 */
export interface MultisocketOptions {
  /** 1 to 1024; nothing: as many as there are processors. */
  readonly sockets: number | undefined;
}
