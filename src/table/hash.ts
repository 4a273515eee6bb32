/**
 * The seeded hash of names, label by label from the root, so that every suffix of a name is hashed on the way to it.
 *
 * The seed is drawn per process: who may choose names cannot choose collisions (FNV-1a inside, murmur's finish).
 */
const PRIME = 0x01000193;

/** ASCII capitals to small letters, all else unchanged (RFC 4343). */
export const FOLD: Uint8Array = Uint8Array.from({ length: 256 }, (_, octet) =>
  octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet,
);

/** Takes one octet into a running hash. */
export function mixOctet(hash: number, octet: number): number {
  return Math.imul(hash ^ octet, PRIME);
}

/** Spreads a running hash over all its bits; the result is what is stored and probed for. */
export function finishHash(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) | 0;
}

/** The running hash of a whole name turned into that of a question. */
export function mixQuestion(hash: number, type: number, dnsClass: number, flags: number): number {
  return finishHash(Math.imul(hash ^ (type | (dnsClass << 16)), PRIME) ^ (flags + 1));
}

/** The running hash (not finished) of a lower-case name in wire form, and its number of labels. */
export function hashName(
  name: Uint8Array,
  seed: number,
): { readonly running: number; readonly labels: number } {
  const starts: number[] = [];
  for (let at = 0; name[at] !== 0 && at < name.length; at += (name[at] ?? 0) + 1) starts.push(at);
  let running = seed;
  for (let label = starts.length - 1; label >= 0; label--) {
    const start = starts[label] ?? 0;
    const end = start + (name[start] ?? 0);
    for (let at = start; at <= end; at++) running = mixOctet(running, name[at] ?? 0);
  }
  return { running, labels: starts.length };
}
