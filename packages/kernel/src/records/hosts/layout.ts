/**
 * The layout of the names of hosts files in the table's memory, in words. Writer and composer share only these.
 *
 * A *list* is what the files of one source say. It is complete when readers see it, and another list takes its place with one
 * store. Places are words of the table, 0 for none.
 *
 *     the list
 *
 *     0   flags, `LIST_FLAG`
 *     1   octets of this block
 *     2   the zone of its answers
 *     3   the outcome of its answers
 *     4   the index of names: its place; the binary logarithm of its slots
 *     6   the index of addresses, likewise
 *     8   the TTL of each origin, in seconds
 *
 *     a pair: an address of a name. The first pair of a name has the name; a further pair has the place of that pair
 *
 *     0   the address
 *     1   the next pair of the address; the last one leads back to the first; 0: the address does not lead to this name
 *     2   of the first pair: the last further pair; of a further pair: the next one; the last one leads back to the first
 *     3   octets of the name, 0: a further pair | `APART` | number of the origin << 9
 *     4   the name in wire form, padded with zeros; or the place of the name's first pair
 *
 *     an address
 *
 *     0   the last pair that it leads to << 2 | `ADDRESS_FLAG`
 *     1   its 4 or 16 octets
 *
 * A slot of an index has a place and, in its upper bits, bits of the hash, so that a probe rarely reads an entry in vain. The
 * indexes are never full: at least a quarter of the slots is empty.
 */

/** In words. */
export const LIST = {
  FLAGS: 0,
  SIZE: 1,
  ZONE: 2,
  OUTCOME: 3,
  NAMES: 4,
  NAME_SHIFT: 5,
  ADDRESSES: 6,
  ADDRESS_SHIFT: 7,
  TTLS: 8,
} as const;

/**
 * HOSTS: no zone of a cluster has this bit. ANSWERS_BOTH: a name with addresses of one family has no data of the other.
 * HAS_REVERSE: addresses lead to names.
 */
export const LIST_FLAG = { HOSTS: 1 << 31, ANSWERS_BOTH: 1, HAS_REVERSE: 2 } as const;

export const PAIR = { ADDRESS: 0, NEXT_OF_ADDRESS: 1, NEXT_OF_NAME: 2, SHAPE: 3, KEY: 4 } as const;
/** Octets of a name, in a shape. */
export const NAME_MASK = 0xff;
/** The name has a node, which answers instead. */
export const APART = 0x100;
export const ORIGIN_SHIFT = 9;

export const ADDRESS = { LEADS: 0, OCTETS: 1 } as const;
export const LEADS_SHIFT = 2;
export const ADDRESS_FLAG = { IPV6: 1, APART: 2 } as const;

/** The bits of a slot that hold the place of an entry: words of the largest table, 2 GiB. */
export const PLACE_MASK = 0x1fff_ffff;
export const HASH_MASK = ~PLACE_MASK;

/** Addresses of one name that are composed into an answer; a name with more has a node. */
export const MAX_ADDRESSES = 16;
/** Names of one address, likewise. Their targets are not compressed, which is no loss for so few. */
export const MAX_POINTERS = 4;

/** The first word of a name, by its length in octets: words of the pair. */
export const wordsOfName = (length: number): number => PAIR.KEY + ((length + 3) >> 2);
/** Words of an address entry. */
export const wordsOfAddress = (flags: number): number => ADDRESS.OCTETS + (flags & ADDRESS_FLAG.IPV6 ? 4 : 1);
