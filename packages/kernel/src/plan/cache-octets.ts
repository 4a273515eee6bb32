/**
 * The memory that a number of cached answers gets: those of all `cache` directives of a Corefile, of `--cache-size`, of `rcache`.
 */

/**
 * Octets of a cached answer, so that as many as asked for have room. One with an address takes some 110, one with six 200, a denial 150 to
 * 190, three aliases with eight addresses 380.
 */
const OCTETS_PER_ANSWER = 512;
/** Also for answers that are made of cached ones, and for blocks without a cache. */
const MIN_OCTETS = 4 * 2 ** 20;
/** Half of the reservation of a table. */
const MAX_OCTETS = 512 * 2 ** 20;

/** The octets of memory for a number of answers. They are touched only as answers come. @param answers may be infinite */
export function computeCacheOctets(answers: number): number {
  return Math.min(Math.max(answers * OCTETS_PER_ANSWER, MIN_OCTETS), MAX_OCTETS);
}
