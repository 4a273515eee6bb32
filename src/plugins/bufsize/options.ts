/**
 * The EDNS buffer size of queries, kept small enough that answers are not fragmented.
 */
export interface BufsizeOptions {
  /** Octets, 512 to 4096. A larger size in a query is taken for this one; queries without EDNS get none. */
  readonly size: number;
}
