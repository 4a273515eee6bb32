/**
 * The keyed hash of names: word by word over the lower-case name in wire form, padded with zeros.
 *
 * Multilinear hashing with half the multiplications (Lemire and Kaser, "Strongly universal string hashing is fast"):
 * each word has its own random keys; its halves are added to two of them and multiplied. Two sums with separate keys
 * give 16 bits each. The keys, drawn for each process, decide which names collide, so an attacker cannot choose
 * colliding names.
 */

/** Words of a name of the maximum length, 255 octets. */
const MAX_WORDS = 64;
/** Keys for each word of a name. */
export const KEYS_PER_WORD = 4;
/** All keys: those of names, and four for the rest of a question. */
export const HASH_KEYS = (MAX_WORDS + 1) * KEYS_PER_WORD;
const QUESTION_KEYS = MAX_WORDS * KEYS_PER_WORD;

/** The part of a sum from one word. @param key the index of its two keys; @param word four octets, the first one lowest */
export function addWord(sum: number, keys: Int32Array, key: number, word: number): number {
  const low = (keys[key] ?? 0) + (word & 0xffff);
  return (sum + Math.imul(low, (keys[key + 1] ?? 0) + (word >>> 16))) | 0;
}

/** The hash from two sums: the upper half of each. */
export function joinSums(one: number, other: number): number {
  return (one & 0xffff0000) | (other >>> 16);
}

/** Spreads a hash over all its bits; the result is stored and probed for. The mapping is one to one, so it adds no collisions. */
export function finishHash(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) | 0;
}

/** The hash of a name, mixed with the salt of a view, turned into the finished hash of a question. */
export function finishQuestion(
  hash: number,
  keys: Int32Array,
  type: number,
  dnsClass: number,
  flags: number,
): number {
  const word = type | (dnsClass << 16);
  const one = addWord(0, keys, QUESTION_KEYS, word);
  const other = addWord(0, keys, QUESTION_KEYS + 2, word);
  return finishHash(hash ^ joinSums(one, other) ^ flags);
}

/** The unsalted hash of a lower-case name in wire form. */
export function hashName(name: Uint8Array, keys: Int32Array): number {
  let one = 0;
  let other = 0;
  for (let at = 0, key = 0; at < name.length; at += 4, key += KEYS_PER_WORD) {
    const word =
      (name[at] ?? 0) |
      ((name[at + 1] ?? 0) << 8) |
      ((name[at + 2] ?? 0) << 16) |
      ((name[at + 3] ?? 0) << 24);
    one = addWord(one, keys, key, word);
    other = addWord(other, keys, key + 2, word);
  }
  return joinSums(one, other);
}

/** The number of labels of a name in wire form, the root's not counted. */
export function countLabels(name: Uint8Array): number {
  let labels = 0;
  for (let at = 0; (name[at] ?? 0) !== 0; at += (name[at] ?? 0) + 1) labels++;
  return labels;
}

/**
 * Folds the ASCII capitals of four octets to lower case at once (RFC 4343). The length octets of labels are at most 63
 * and stay unchanged, so this needs no label boundaries.
 */
export function foldWord(word: number): number {
  const low = word & 0x7f7f7f7f;
  const capitals = (low + 0x3f3f3f3f) & ~(low + 0x25252525) & ~word & 0x80808080;
  return word | (capitals >>> 2);
}
