/**
 * Which class a client is in, by the longest prefix of its address: for a reader, a search among sorted ranges.
 */
import { AF_INET, AF_INET6 } from '../socket/linux.ts';
import { parseAddress } from '../wire/address.ts';

/** The clients whose addresses share their leading bits with one. */
export interface ClientPrefix {
  /** IPv4 or IPv6. */
  readonly address: string;
  /** How many of its leading bits count: 0 to 32, or 128 for IPv6. */
  readonly length: number;
}

interface Boundary {
  /** The first address of a range, as a number. */
  readonly start: bigint;
  readonly value: number;
}

const IPV4_AT = 4;
const IPV6_AT = 8;

/** Ranges of addresses of one family, without gaps, and the value of each. */
class Ranges {
  /** The first address of each range, in words of 32 bits. */
  readonly #starts: Uint32Array;
  readonly #values: Uint8Array;
  readonly #words: number;

  constructor(boundaries: readonly Boundary[], words: number) {
    this.#words = words;
    this.#values = Uint8Array.from(boundaries, ({ value }) => value);
    this.#starts = new Uint32Array(boundaries.length * words);
    for (const [index, { start }] of boundaries.entries()) {
      for (let word = 0; word < words; word++)
        this.#starts[index * words + word] = Number(
          (start >> BigInt(32 * (words - 1 - word))) & 0xffff_ffffn,
        );
    }
  }

  /** The value of the address at this octet. */
  find(octets: Uint8Array, at: number): number {
    let low = 0;
    for (let high = this.#values.length; high - low > 1; ) {
      const middle = (low + high) >>> 1;
      if (this.#isAtOrBehind(octets, at, middle)) low = middle;
      else high = middle;
    }
    return this.#values[low] ?? 0;
  }

  #isAtOrBehind(octets: Uint8Array, at: number, range: number): boolean {
    for (let word = 0; word < this.#words; word++) {
      const start = this.#starts[range * this.#words + word] ?? 0;
      const own = wordAt(octets, at + word * 4);
      if (own !== start) return own > start;
    }
    return true;
  }
}

export class ClientPrefixes {
  readonly #ipv4: Ranges;
  readonly #ipv6: Ranges;

  /**
   * @param classes 0 to 255 each; of several prefixes that hold an address the longest counts, of equal ones the last
   * @param otherwise the class of all other clients
   */
  constructor(classes: ReadonlyMap<ClientPrefix, number>, otherwise: number) {
    const all = [...classes];
    this.#ipv4 = new Ranges(boundariesOf(all, 32, otherwise), 1);
    this.#ipv6 = new Ranges(boundariesOf(all, 128, otherwise), 4);
  }

  /** @param at where the client's socket address begins in `octets` */
  find(octets: Uint8Array, at: number): number {
    const family = (octets[at] ?? 0) | ((octets[at + 1] ?? 0) << 8);
    if (family === AF_INET) return this.#ipv4.find(octets, at + IPV4_AT);
    return family === AF_INET6 ? this.#ipv6.find(octets, at + IPV6_AT) : 0;
  }
}

function boundariesOf(
  classes: readonly (readonly [ClientPrefix, number])[],
  bits: 32 | 128,
  otherwise: number,
): readonly Boundary[] {
  const ranges = [{ start: 0n, end: 1n << BigInt(bits), length: -1, value: otherwise }];
  for (const [{ address, length }, value] of classes) {
    const octets = parseAddress(address);
    if (octets === undefined || octets.length * 8 !== bits) continue;
    const size = 1n << BigInt(bits - length);
    const number = octets.reduce((sum, octet) => (sum << 8n) | BigInt(octet), 0n);
    const start = number - (number % size);
    ranges.push({ start, end: start + size, length, value });
  }
  // Every boundary of a prefix begins a range; the longest prefix that holds its first address gives the value.
  const byLength = ranges.toReversed().sort((one, other) => other.length - one.length);
  const starts = [...new Set(ranges.flatMap(({ start, end }) => [start, end]))].sort((one, other) =>
    one < other ? -1 : 1,
  );
  return starts
    .filter((start) => start < 1n << BigInt(bits))
    .map((start) => ({
      start,
      value: byLength.find((range) => range.start <= start && start < range.end)?.value ?? otherwise,
    }));
}

function wordAt(octets: Uint8Array, at: number): number {
  return (
    (((octets[at] ?? 0) << 24) |
      ((octets[at + 1] ?? 0) << 16) |
      ((octets[at + 2] ?? 0) << 8) |
      (octets[at + 3] ?? 0)) >>>
    0
  );
}
