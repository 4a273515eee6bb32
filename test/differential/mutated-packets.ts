/**
 * Queries as a hostile client makes them: names that exist and names near them, rare types, classes and flags, OPT records of every
 * kind, records where queries have none, wrong counts, cut and changed octets.
 */

/** Numbers below 2 ** 32 from a seed, alike on every machine (xorshift). */
export class SeededNumbers {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0 || 1;
  }

  /** From 0 to below `bound`. */
  below(bound: number): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state;
    return (state >>> 0) % bound;
  }

  /** True in `parts` of a thousand cases. */
  chance(parts: number): boolean {
    return this.below(1000) < parts;
  }

  pick<Item>(items: readonly Item[]): Item {
    // Lists are never empty.
    return items[this.below(items.length)] as Item;
  }

  octets(length: number): number[] {
    return Array.from({ length }, () => this.below(256));
  }
}

const TYPES = [
  1, 1, 1, 1, 1, 1, 1, 1, 28, 28, 28, 28, 28, 28, 33, 33, 33, 12, 12, 12, 5, 2, 6, 15, 16, 255, 257, 64, 65,
  43, 48, 46, 35, 99, 13, 10, 251, 252, 41, 249, 250, 253, 254, 0, 65535, 256, 258, 32769,
];
const CLASSES = [...Array.from({ length: 30 }, () => 1), 3, 3, 4, 255, 254, 0, 2, 65535];
const UDP_SIZES = [0, 1, 100, 511, 512, 513, 600, 700, 1000, 1231, 1232, 1233, 4095, 4096, 4097, 65535];
/** EDNS options: their codes and data. */
const OPTIONS: readonly (readonly [number, readonly number[]])[] = [
  [3, []],
  [3, [0x78]],
  [10, [1, 2, 3, 4, 5, 6, 7, 8]],
  [10, [1, 2, 3, 4, 5, 6, 7]],
  [10, Array.from({ length: 24 }, () => 7)],
  [10, []],
  // Client subnets: sound, without address, too long, cut, of no family.
  [8, [0, 1, 24, 0, 10, 0, 0]],
  [8, [0, 1, 0, 0]],
  [8, [0, 1, 33, 0, 10, 0, 0, 0, 0]],
  [8, []],
  [8, [0, 0, 0, 0]],
  [8, [0, 0, 8, 0, 1]],
  [12, [0, 0, 0]],
  [11, []],
  [11, [0, 1]],
  [15, [0, 0]],
  [65001, [1, 2, 3]],
  [9, []],
  [0, []],
  [16, []],
];

const uint16 = (value: number) => [(value >> 8) & 0xff, value & 0xff];

/** @returns the labels of a name; the root has none */
function toLabelOctets(name: string): number[][] {
  return name
    .split('.')
    .filter((label) => label !== '')
    .map((label) => [...Buffer.from(label, 'latin1')].slice(0, 63));
}

export class MutatedPackets {
  readonly #numbers: SeededNumbers;
  readonly #names: readonly string[];

  /** @param names those that the server knows, or may ask for */
  constructor(seed: number, names: readonly string[]) {
    this.#numbers = new SeededNumbers(seed);
    this.#names = names;
  }

  next(): Uint8Array {
    const numbers = this.#numbers;
    const question = [...this.#name(), ...uint16(this.#type()), ...uint16(numbers.pick(CLASSES))];
    const count = numbers.chance(980) ? 1 : numbers.pick([0, 2, 3, 256, 257]);
    if (count === 2 && numbers.chance(700)) question.push(...question);
    const { octets, counts } = this.#records();
    const header = [...uint16(numbers.below(65536)), ...uint16(this.#flags()), ...uint16(count)];
    return this.#damage([...header, ...counts.flatMap(uint16), ...question, ...octets]);
  }

  #type(): number {
    return this.#numbers.chance(970) ? this.#numbers.pick(TYPES) : this.#numbers.below(65536);
  }

  #name(): number[] {
    const numbers = this.#numbers;
    const case_ = numbers.below(10);
    const cased = (octet: number) => {
      const isLetter = octet >= 0x61 && octet <= 0x7a;
      const isUpper = case_ >= 4 && (case_ < 6 || numbers.chance(500));
      return isLetter && isUpper ? octet - 32 : octet;
    };
    const labels = toLabelOctets(numbers.pick(this.#names));
    const name = [...labels.flatMap((label) => [label.length, ...label.map(cased)]), 0];
    const turn = numbers.below(100);
    if (turn < 3) return [1, 0x2a, ...name];
    if (turn < 5) return [3, 0x61, 0x6e, 0x79, ...name];
    if (turn < 8) return [4, ...numbers.octets(4), ...name];
    if (turn < 9) return [63, ...numbers.octets(63), ...name];
    if (turn < 10) return [...name.slice(0, -1), 0xc0, 0x0c];
    if (turn < 11)
      return [63, ...numbers.octets(63), 63, ...numbers.octets(63), 63, ...numbers.octets(63), ...name];
    if (turn < 12) return [64, ...numbers.octets(64), ...name];
    return name;
  }

  #flags(): number {
    const numbers = this.#numbers;
    let flags = numbers.chance(800) ? 0x0100 : 0;
    for (const [parts, bit] of [
      [150, 0x0020],
      [150, 0x0010],
      [30, 0x0200],
      [30, 0x0400],
      [30, 0x0040],
      [30, 0x0080],
      [5, 0x8000],
    ] as const)
      if (numbers.chance(parts)) flags |= bit;
    if (numbers.chance(20)) flags |= numbers.below(16);
    if (numbers.chance(20)) flags |= numbers.pick([1, 2, 3, 4, 5, 6, 15]) << 11;
    return flags;
  }

  /** Records behind the question, and how many each section is said to have. */
  #records(): { octets: number[]; counts: readonly [number, number, number] } {
    const turn = this.#numbers.below(100);
    const signature = [1, 0x6b, 0, ...uint16(250), ...uint16(255), 0, 0, 0, 0, 0, 2, 0x61, 0x62];
    const soa = [
      0xc0,
      0x0c,
      ...uint16(6),
      ...uint16(1),
      0,
      0,
      0,
      0,
      0,
      22,
      ...Array.from({ length: 22 }, () => 0),
    ];
    const address = [0xc0, 0x0c, ...uint16(1), ...uint16(1), 0, 0, 0, 0, 0, 4, 97, 98, 99, 100];
    if (turn < 50) return { octets: this.#opt(), counts: [0, 0, 1] };
    if (turn < 53) return { octets: [...this.#opt(), ...this.#opt()], counts: [0, 0, 2] };
    if (turn < 55) return { octets: signature, counts: [0, 0, 1] };
    if (turn < 57) return { octets: [...this.#opt(), ...signature], counts: [0, 0, 2] };
    if (turn < 59) return { octets: [...signature, ...this.#opt()], counts: [0, 0, 2] };
    if (turn < 61) return { octets: soa, counts: [0, 1, 0] };
    if (turn < 64)
      return {
        octets: this.#brokenRecord(),
        counts: this.#numbers.pick([
          [0, 1, 0],
          [0, 0, 1],
        ]),
      };
    if (turn < 66) return { octets: address, counts: [1, 0, 0] };
    if (turn < 67) return { octets: this.#opt(), counts: [0, 1, 0] };
    if (turn < 68) return { octets: [], counts: [0, 0, 1] };
    if (turn < 69) return { octets: [0x6a, 0x75, 0x6e, 0x6b], counts: [0, 0, 0] };
    return { octets: [], counts: [0, 0, 0] };
  }

  /** A record whose frame is sound, and whose data or owner is not. */
  #brokenRecord(): number[] {
    const numbers = this.#numbers;
    const owner = numbers.pick([[0xc0, 0x0c], [0xff, 0xff], [0xc0, 0x00], [0]]);
    const data = numbers.octets(numbers.pick([0, 1, 3, 5, 17]));
    return [
      ...owner,
      ...uint16(numbers.pick([1, 28, 6, 5, 33, 16, 15, 2, 250])),
      0,
      1,
      0,
      0,
      0,
      0,
      ...uint16(data.length),
      ...data,
    ];
  }

  #opt(): number[] {
    const numbers = this.#numbers;
    const options = numbers.chance(400)
      ? Array.from({ length: numbers.pick([1, 1, 1, 2, 3]) }, () => numbers.pick(OPTIONS)).flatMap(
          ([code, data]) => [...uint16(code), ...uint16(data.length), ...data],
        )
      : [];
    if (options.length > 0 && numbers.chance(50)) options.pop();
    const wrong = numbers.chance(930) ? 0 : numbers.pick([1, -1, 4]);
    const length = Math.max(0, options.length + wrong);
    const owner = numbers.chance(970)
      ? [0]
      : numbers.pick([
          [1, 0x61, 0],
          [0xc0, 0x0c],
        ]);
    const version = numbers.chance(910) ? 0 : numbers.pick([1, 2, 255]);
    const bits =
      (numbers.chance(300) ? 0x8000 : 0) | (numbers.chance(230) ? numbers.pick([0x4000, 1, 0x7fff]) : 0);
    const head = [...uint16(41), ...uint16(numbers.pick(UDP_SIZES)), numbers.chance(910) ? 0 : 255];
    return [...owner, ...head, version, ...uint16(bits), ...uint16(length), ...options];
  }

  #damage(octets: number[]): Uint8Array {
    const numbers = this.#numbers;
    const turn = numbers.below(1000);
    if (turn < 20) return Uint8Array.from(octets.slice(0, 2 + numbers.below(octets.length - 1)));
    if (turn < 50)
      for (let left = numbers.pick([1, 1, 2, 5]); left > 0; left -= 1)
        octets[2 + numbers.below(octets.length - 2)] = numbers.below(256);
    else if (turn < 55) octets.push(...numbers.octets(numbers.pick([1, 5, 600, 1300])));
    return Uint8Array.from(octets);
  }
}
