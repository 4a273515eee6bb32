/**
 * Values by ranges of addresses, which come and go one by one: of several that hold an address the longest prefix wins.
 */
import { parseAddress } from './address.ts';
import { type AddressRange, findMask } from './address-range.ts';

/** A range in octets: 4 or 16, zero behind the prefix. */
export interface OctetRange {
  readonly octets: Uint8Array;
  /** Bits: 0 to 32, or 128 for IPv6. */
  readonly prefix: number;
}

/** Undefined: its text is not an address, or the prefix is too long. */
export function toOctetRange({ address, prefix }: AddressRange): OctetRange | undefined {
  const octets = parseAddress(address);
  return octets && prefix <= octets.length * 8 ? { octets: masked(octets, prefix), prefix } : undefined;
}

export class RangeMap<Value> {
  readonly #values = new Map<string, Value>();
  /** How many ranges have a prefix of this length, by the octets of their addresses. */
  readonly #lengths = new Map<number, number[]>();

  get size(): number {
    return this.#values.size;
  }

  get(range: OctetRange): Value | undefined {
    return this.#values.get(toRangeKey(range));
  }

  set(range: OctetRange, value: Value): void {
    const key = toRangeKey(range);
    if (!this.#values.has(key)) this.#count(range, 1);
    this.#values.set(key, value);
  }

  delete(range: OctetRange): void {
    if (this.#values.delete(toRangeKey(range))) this.#count(range, -1);
  }

  /** The value for an address. @param octets 4 or 16 */
  find(octets: Uint8Array): Value | undefined {
    const lengths = this.#lengths.get(octets.length) ?? [];
    for (let prefix = lengths.length - 1; prefix >= 0; prefix--) {
      if ((lengths[prefix] ?? 0) === 0) continue;
      const value = this.#values.get(toRangeKey({ octets: masked(octets, prefix), prefix }));
      if (value !== undefined) return value;
    }
    return undefined;
  }

  #count({ octets, prefix }: OctetRange, more: number): void {
    const lengths = this.#lengths.get(octets.length) ?? new Array<number>(octets.length * 8 + 1).fill(0);
    lengths[prefix] = (lengths[prefix] ?? 0) + more;
    this.#lengths.set(octets.length, lengths);
  }
}

function masked(octets: Uint8Array, prefix: number): Uint8Array {
  return octets.map((octet, place) => octet & findMask(prefix, place));
}

const toRangeKey = ({ octets, prefix }: OctetRange): string =>
  `${Buffer.from(octets).toString('latin1')}/${prefix}`;
