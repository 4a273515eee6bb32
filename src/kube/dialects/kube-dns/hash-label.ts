/**
 * The labels of kube-dns for addresses without a hostname: the FNV-1a hash of the record as Go prints it, in hexadecimal,
 * encoded in hexadecimal a second time.
 */

/** @param address canonical */
export function hashLabel(address: string): string {
  // Address, port, priority, weight, text, mail, TTL, stripped labels, group, key.
  const hash = fnv1a(`&{${address} 0 10 10  false 30 0  }`);
  return Buffer.from(hash.toString(16), 'latin1').toString('hex');
}

/** The 32-bit FNV-1a hash of ASCII text. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
