/**
 * The seeded hash of names: word by word over the lower-case name in wire form, zeros behind its end.
 *
 * Every step multiplies and folds the high half back, so that a collision depends on the seed, which is drawn per
 * process: who may choose names cannot choose collisions.
 */
const MULTIPLIER = 0x9e3779b1 | 0;

/** Takes one word (four octets, the first one lowest) into a running hash. */
export function mixWord(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, MULTIPLIER);
  return mixed ^ (mixed >>> 15);
}

/** Spreads a running hash over all its bits; the result is what is stored and probed for. */
export function finishHash(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) | 0;
}

/** The running hash of a name turned into the finished hash of a question. */
export function finishQuestion(running: number, type: number, dnsClass: number, flags: number): number {
  return finishHash(mixWord(mixWord(running, type | (dnsClass << 16)), flags + 1));
}

/** The running hash of a lower-case name in wire form. */
export function hashName(name: Uint8Array, seed: number): number {
  let hash = seed;
  for (let at = 0; at < name.length; at += 4) {
    const word =
      (name[at] ?? 0) |
      ((name[at + 1] ?? 0) << 8) |
      ((name[at + 2] ?? 0) << 16) |
      ((name[at + 3] ?? 0) << 24);
    hash = mixWord(hash, word);
  }
  return hash;
}

/** The number of labels of a name in wire form, the root's not counted. */
export function countLabels(name: Uint8Array): number {
  let labels = 0;
  for (let at = 0; (name[at] ?? 0) !== 0; at += (name[at] ?? 0) + 1) labels++;
  return labels;
}

/**
 * Turns the ASCII capitals among four octets into small letters, all four at once (RFC 4343). The length octets of
 * labels are at most 63 and pass unchanged, so a name need not be taken apart for this.
 */
export function foldWord(word: number): number {
  const low = word & 0x7f7f7f7f;
  const capitals = (low + 0x3f3f3f3f) & ~(low + 0x25252525) & ~word & 0x80808080;
  return word | (capitals >>> 2);
}
