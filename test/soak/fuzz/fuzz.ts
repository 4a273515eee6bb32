/**
 * A fuzzer: takes inputs of a seed corpus apart, changes, cuts and joins them, and gives them to a parser until its time is over.
 *
 * A failure names the seed and the input, in Base64. Give the seed again by `TEST_SEED`; put the input among the seeds of
 * the target once it is understood, so that it is tried first from then on.
 */
import { seed as runSeed } from '../../support/seed.ts';

/** The same inputs in each run, so that a run judges the change that it is for; others with `TEST_SEED`. */
const SEED = process.env['TEST_SEED'] === undefined ? 1 : runSeed;
/** Seconds that each target has. */
const SECONDS = readSeconds(process.env['FUZZ_SECONDS'] ?? '3');
/** Inputs that are tried even where the time is over before: a slow machine proves something too. */
const MIN_INPUTS = 500;
const MAX_INPUT_OCTETS = 65_536;
/** Milliseconds for one input. Most take less than one; what takes as long as this is a way to stop the program. */
const MAX_MILLISECONDS = 20_000;
const MAX_CHANGES = 6;

export interface FuzzTarget {
  /** Inputs that are right, or were once handled wrongly. */
  readonly seeds: readonly Uint8Array[];
  /** Pieces that mean something in such an input. */
  readonly words: readonly Uint8Array[];
  /** @throws where the parser does what it may not */
  readonly run: (input: Uint8Array) => void | Promise<void>;
}

export const octetsOf = (text: string): Uint8Array => Buffer.from(text, 'utf8');

/** Tries inputs until the time is over, and prints how many there were. */
export async function fuzz(name: string, { seeds, words, run }: FuzzTarget): Promise<void> {
  const mutator = new Mutator(SEED, seeds, words);
  const end = performance.now() + SECONDS * 1000;
  let inputs = 0;
  let slowest = 0;
  for (const input of seeds) slowest = Math.max(slowest, await attempt(run, input));
  for (; inputs < MIN_INPUTS || performance.now() < end; inputs += 1)
    slowest = Math.max(slowest, await attempt(run, mutator.next()));
  console.log(`${name}: ${inputs} inputs, the slowest took ${slowest.toFixed(0)} ms`);
}

/** @returns how long it took, in milliseconds */
async function attempt(run: FuzzTarget['run'], input: Uint8Array): Promise<number> {
  const began = performance.now();
  try {
    await run(Uint8Array.from(input));
    const took = performance.now() - began;
    if (took > MAX_MILLISECONDS) throw new Error(`it took ${took.toFixed(0)} ms`);
    return took;
  } catch (error) {
    const shown = Buffer.from(input).toString('base64');
    throw new Error(`${String(error)}; TEST_SEED=${SEED}; input (Base64): ${shown}`, { cause: error });
  }
}

class Mutator {
  readonly #seeds: readonly Uint8Array[];
  readonly #words: readonly Uint8Array[];
  #state: number;

  constructor(seed: number, seeds: readonly Uint8Array[], words: readonly Uint8Array[]) {
    this.#state = seed;
    this.#seeds = seeds;
    this.#words = words;
  }

  next(): Uint8Array {
    let input = this.#pick(this.#seeds);
    for (let changes = 1 + this.#below(MAX_CHANGES); changes > 0; changes -= 1) input = this.#change(input);
    return input.subarray(0, MAX_INPUT_OCTETS);
  }

  #change(input: Uint8Array): Uint8Array {
    const at = this.#below(input.length + 1);
    const to = at + this.#below(Math.min(64, input.length - at + 1));
    switch (this.#below(9)) {
      case 0:
        return this.#replace(input, at, at, this.#pick(this.#words));
      case 1:
        return this.#replace(input, at, to, this.#pick(this.#words));
      case 2:
        return this.#replace(input, at, to, Uint8Array.of());
      case 3:
        return input.subarray(0, at);
      case 4:
        return this.#replace(input, at, at, input.subarray(at, to));
      case 5: {
        const other = this.#pick(this.#seeds);
        const from = this.#below(other.length + 1);
        return this.#replace(input, at, to, other.subarray(from, from + this.#below(256)));
      }
      case 6:
        return this.#replace(input, at, Math.min(at + 1, input.length), Uint8Array.of(1 << this.#below(8)));
      case 7:
        return this.#replace(input, at, Math.min(at + 1, input.length), Uint8Array.of(this.#below(256)));
      default:
        return this.#repeat(input, at, to);
    }
  }

  #replace(input: Uint8Array, from: number, to: number, by: Uint8Array): Uint8Array {
    return Buffer.concat([input.subarray(0, from), by, input.subarray(to)]);
  }

  /** A piece many times over: depth and length are what parsers are weak at. */
  #repeat(input: Uint8Array, from: number, to: number): Uint8Array {
    const times = 2 ** this.#below(10);
    const piece = Buffer.from(input.subarray(from, to));
    return this.#replace(input, from, to, Buffer.concat(Array<Buffer>(times).fill(piece)));
  }

  #pick(among: readonly Uint8Array[]): Uint8Array {
    return among[this.#below(among.length)] ?? Uint8Array.of();
  }

  /** From 0 to below `limit` (mulberry32). */
  #below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0)) throw new Error(`FUZZ_SECONDS: not a number above 0: ${text}`);
  return seconds;
}
