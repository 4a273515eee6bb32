/**
 * Packets between valid and invalid: queries with a few critical octets changed, truncated, lengthened, or entirely random.
 * Reproducible by seed.
 */
import { encodeMessage } from '@portolan/dns/message.ts';
import { TYPE } from '@portolan/dns/types.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';

/** Numbers that follow from a seed (mulberry32). */
export class Draws {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A whole number from 0 up to, but not, `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  octets(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }
}

const HEADER_OCTETS = 12;
/** An OPT record: root, type 41, size 4096, no flags, no options. */
const OPT = Buffer.from([0, 0, 41, 0x10, 0, 0, 0, 0, 0, 0, 0]);
/** Octets that mean something in a name, a count, a type or an OPT record. */
const MEANINGFUL = [0, 1, 2, 12, 28, 33, 41, 63, 64, 0x80, 0xc0, 0xff];

type Mutation = (packet: Buffer, draws: Draws) => Buffer;

const changeOctets = (from: number): Mutation => {
  return (packet, draws) => {
    const changed = Buffer.from(packet);
    for (let changes = 1 + draws.below(3); changes > 0; changes -= 1) {
      const position = from + draws.below(Math.max(1, changed.length - from));
      const octet = draws.below(2) === 0 ? MEANINGFUL[draws.below(MEANINGFUL.length)] : draws.below(256);
      if (position < changed.length) changed[position] = octet ?? 0;
    }
    return changed;
  };
};

const MUTATIONS: readonly Mutation[] = [
  (packet) => packet,
  changeOctets(2),
  changeOctets(HEADER_OCTETS),
  (packet, draws) => packet.subarray(0, draws.below(packet.length + 1)),
  (packet, draws) => Buffer.concat([packet, draws.octets(draws.below(600))]),
  // A name that points: at itself, forwards, anywhere.
  (packet, draws) => {
    const pointing = Buffer.from(packet);
    const at = HEADER_OCTETS + draws.below(Math.max(1, pointing.length - HEADER_OCTETS - 1));
    pointing.writeUInt16BE(0xc000 | draws.below(at + 8), Math.min(at, pointing.length - 2));
    return pointing;
  },
  // More questions and records than there are.
  (packet, draws) => {
    const counted = Buffer.from(packet);
    counted.writeUInt16BE(draws.below(3) === 0 ? 0xffff : draws.below(4), 4 + 2 * draws.below(4));
    return counted;
  },
  // EDNS, whole or broken, once or twice.
  (packet, draws) => {
    const records = 1 + draws.below(2);
    const extended = Buffer.concat([packet, ...Array.from({ length: records }, () => OPT)]);
    extended.writeUInt16BE(records, 10);
    return draws.below(2) === 0 ? extended : changeOctets(packet.length)(extended, draws);
  },
  (_packet, draws) => draws.octets(draws.below(600)),
];

export class HostilePackets {
  readonly draws: Draws;
  readonly #queries: readonly Buffer[];

  /** @param names to ask for, with all types, before it gets worse */
  constructor(seed: number, names: readonly string[]) {
    this.draws = new Draws(seed);
    const types = Object.keys(TYPE) as readonly (keyof typeof TYPE)[]; // The keys of a constant.
    this.#queries = names.flatMap((name) =>
      types.map((type) => Buffer.from(encodeMessage(makeQuery(name, type)))),
    );
  }

  next(): Buffer {
    const query = this.#queries[this.draws.below(this.#queries.length)] ?? Buffer.alloc(0);
    const mutate = MUTATIONS[this.draws.below(MUTATIONS.length)];
    return Buffer.from(mutate?.(query, this.draws) ?? query);
  }
}
