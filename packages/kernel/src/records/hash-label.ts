/**
 * The labels of kube-dns for IPv4 addresses without a hostname, without allocating: see `kube/dialects/kube-dns`.
 */
const BEFORE = Buffer.from('&{', 'latin1');
const BEHIND = Buffer.from(' 0 10 10  false 30 0  }', 'latin1');
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;
const ZERO = 0x30;
const DOT = 0x2e;
const LETTER_A = 0x61;
/** The label of a hash of eight digits, with its length. */
export const HASH_LABEL_OCTETS = 17;

/** Writes the label, its length first. @returns its octets */
export function writeHashLabel(to: Uint8Array, address: number): number {
  const hash = hashAddress(address);
  let at = 1;
  for (let shift = 28; shift >= 0; shift -= 4) {
    const digit = (hash >>> shift) & 15;
    // Leading zeros are not printed.
    if (at === 1 && digit === 0 && shift > 0) continue;
    const letter = digit < 10 ? ZERO + digit : LETTER_A + digit - 10;
    to[at++] = hexadecimal(letter >>> 4);
    to[at++] = hexadecimal(letter & 15);
  }
  to[0] = at - 1;
  return at;
}

const hexadecimal = (digit: number): number => (digit < 10 ? ZERO + digit : LETTER_A + digit - 10);

/** The 32-bit FNV-1a hash of the record as Go prints it. */
function hashAddress(address: number): number {
  let hash = OFFSET;
  for (let index = 0; index < BEFORE.length; index++) hash = add(hash, BEFORE[index] ?? 0);
  for (let shift = 24; shift >= 0; shift -= 8) {
    const value = (address >>> shift) & 255;
    if (value > 99) hash = add(hash, ZERO + Math.floor(value / 100));
    if (value > 9) hash = add(hash, ZERO + (Math.floor(value / 10) % 10));
    hash = add(hash, ZERO + (value % 10));
    if (shift > 0) hash = add(hash, DOT);
  }
  for (let index = 0; index < BEHIND.length; index++) hash = add(hash, BEHIND[index] ?? 0);
  return hash >>> 0;
}

const add = (hash: number, octet: number): number => Math.imul(hash ^ octet, PRIME);
