/**
 * The EDNS buffer size of queries, kept small enough that answers are not fragmented.
 */
export interface BufsizeOptions {
  /** Octets, 512 to 4096. It replaces a larger size in a query; queries without EDNS stay without it. */
  readonly size: number;
}
