/**
 * The layout of the counts of searched names, at the beginning of a ring of query events: the suffix that they end with, in wire
 * form, then places for namespaces, each with a label in wire form and a count.
 */

/** Octets of the longest suffix: `svc` and a domain of 251 octets. */
export const MAX_SUFFIX_OCTETS = 256;
/** Namespaces of a ring, a power of two. */
export const NAMESPACE_PLACES = 4_096;
/** A length octet, and a label of up to 63; then a count of 32 bits. */
export const LABEL_OCTETS = 64;
export const PLACE_OCTETS = LABEL_OCTETS + 4;

export const SEARCH_OCTETS = MAX_SUFFIX_OCTETS + NAMESPACE_PLACES * PLACE_OCTETS;
