/**
 * The network that a client counts for.
 */

/** @param address as a socket has it @returns the same text for all addresses with the same first bits */
export function prefixOf(address: string, lengths: { readonly ipv4: number; readonly ipv6: number }): string {
  const text = address.replace(/%.*$/, '').replace(/^::ffff:(?=\d+\.)/i, '');
  return text.includes(':')
    ? mask(groupsOf(text), 16, lengths.ipv6)
    : mask(text.split('.').map(Number), 8, lengths.ipv4);
}

/** The eight groups of an IPv6 address. */
function groupsOf(text: string): readonly number[] {
  const [before = '', after] = text.split('::');
  const read = (part: string) => (part === '' ? [] : part.split(':').flatMap(readGroup));
  const head = read(before);
  if (after === undefined) return head;
  const tail = read(after);
  return [...head, ...Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => 0), ...tail];
}

/** The last two may be written as an IPv4 address. */
function readGroup(text: string): readonly number[] {
  if (!text.includes('.')) return [Number.parseInt(text, 16)];
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
}

/** @param width bits of each part */
function mask(parts: readonly number[], width: number, length: number): string {
  const kept = parts.slice(0, Math.ceil(length / width));
  const loose = width - (length % width);
  const last = kept.at(-1);
  if (loose < width && last !== undefined) kept[kept.length - 1] = (last >> loose) << loose;
  return kept.join(width === 16 ? ':' : '.');
}
