/**
 * For which queries a block answers, where several blocks have the same zone. A plugin of the block decides it.
 */
import type { AddressRange } from '@portolan/dns/address-range.ts';
import type { Query } from '../chain/query.ts';

/** `unknown`: it depends on more than the client's address. */
export type Truth = boolean | 'unknown';

export interface BlockChoice {
  accepts(query: Query): boolean;
  /** The ranges of client addresses that the conditions name, without duplicates: readers choose blocks by them. */
  readonly ranges: readonly AddressRange[];
  /**
   * Whether it accepts the clients of a range.
   *
   * @param range the longest of the ranges of all blocks that holds the clients; undefined: they are in none
   */
  truthFor(range: AddressRange | undefined): Truth;
}
