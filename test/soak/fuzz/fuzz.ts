/**
 * A fuzzer that is guided by coverage: splits, changes, cuts and joins inputs of a corpus, and passes them to a parser until its time
 * is over. Inputs that reach new code join the corpus; with `FUZZ_SAVE` they are also saved beside this file.
 *
 * A failure shows the seed and the input, in Base64. Repeat it with the seed in `TEST_SEED`. Once you understand the input,
 * add it to the seeds of the target, so that later runs try it first.
 */
import { WorkCounter } from '@portolan/kernel/base/testing/work-counter.ts';
import { seed as runSeed } from '../../support/seed.ts';
import { GuidedCorpus } from './guided-corpus.ts';

const { TEST_SEED, FUZZ_SAVE } = process.env;
const SAVES = FUZZ_SAVE !== undefined;
/** The same changes in each run, so that a run judges the change that it is for; others with `TEST_SEED`, and where they are saved. */
const SEED = TEST_SEED === undefined && !SAVES ? 1 : runSeed;
/** Seconds that each target has. */
const SECONDS = readSeconds(process.env['FUZZ_SECONDS'] ?? '1');
/** Inputs that are tried even where the time is over before: a slow machine proves something too. */
const MIN_INPUTS = 500;
const MAX_INPUT_OCTETS = 65_536;
/** Inputs that took longest, and as many that are longest: their work is counted. */
const COUNTED = 3;
/**
 * Blocks of our code that may be entered for each octet of an input, and for any input. The most that was seen is 110,000 in all; work
 * that grows with the square of the length is 400 million for 64 KiB.
 */
const MAX_WORK_PER_OCTET = 200;
const MAX_WORK = 2_000_000;
const MAX_CHANGES = 6;
/** Characters of an input that an error shows: the seed brings the whole again. */
const MAX_SHOWN = 2_000;

export interface FuzzTarget {
  /** Inputs that are right, or were once handled wrongly. */
  readonly seeds: readonly Uint8Array[];
  /** Pieces that mean something in such an input. */
  readonly words: readonly Uint8Array[];
  /** @throws where the parser does what it may not */
  readonly run: (input: Uint8Array) => void | Promise<void>;
}

export const encodeText = (text: string): Uint8Array => Buffer.from(text, 'utf8');

/** Tries inputs until the time is over, and prints how many there were. */
export async function fuzz(name: string, { seeds, words, run }: FuzzTarget): Promise<void> {
  let inputs = 0;
  let slowest: readonly Attempt[] = [];
  let longest: readonly Attempt[] = [];
  const tryOne = async (input: Uint8Array) => {
    const began = performance.now();
    await attempt(run, input);
    const tried = { input, milliseconds: performance.now() - began };
    slowest = selectTop([...slowest, tried], ({ milliseconds }) => milliseconds);
    longest = selectTop([...longest, tried], ({ input: { length } }) => length);
  };
  const corpus = new GuidedCorpus(name, seeds, tryOne);
  const mutator = new Mutator(SEED, corpus.inputs, words);
  try {
    await corpus.begin();
    const end = performance.now() + SECONDS * 1000;
    while (inputs < MIN_INPUTS || performance.now() < end) {
      const batch = Array.from({ length: corpus.batch }, () => mutator.next());
      await corpus.tryAll(batch);
      inputs += batch.length;
    }
    if (SAVES) corpus.save();
  } finally {
    corpus.stop();
  }
  const most = await countWork(run, [...slowest, ...longest]);
  const milliseconds = slowest[0]?.milliseconds.toFixed(0);
  console.log(
    `${name}: ${inputs} inputs, ${corpus.blocks} blocks of code, ${corpus.found} new inputs; ` +
      `the slowest took ${milliseconds} ms, the most work was ${most} blocks`,
  );
}

interface Attempt {
  readonly input: Uint8Array;
  readonly milliseconds: number;
}

function selectTop(attempts: readonly Attempt[], figure: (attempt: Attempt) => number): readonly Attempt[] {
  return attempts.toSorted((one, other) => figure(other) - figure(one)).slice(0, COUNTED);
}

async function attempt(run: FuzzTarget['run'], input: Uint8Array): Promise<void> {
  try {
    await run(Uint8Array.from(input));
  } catch (error) {
    throw new Error(`${String(error)}; ${describe(input)}`, { cause: error });
  }
}

function describe(input: Uint8Array): string {
  const octets = Buffer.from(input).toString('base64');
  const shown =
    octets.length > MAX_SHOWN ? `${octets.slice(0, MAX_SHOWN)}… (${input.length} octets)` : octets;
  return `TEST_SEED=${SEED}; input (Base64): ${shown}`;
}

/**
 * Tries inputs again and counts their work, which is the same on every machine.
 *
 * @returns the most of one input, in blocks
 * @throws where an input costs more than one of its length may: it is a way to stop the program
 */
async function countWork(run: FuzzTarget['run'], attempts: readonly Attempt[]): Promise<number> {
  const counter = new WorkCounter();
  let most = 0;
  try {
    for (const { input } of attempts) {
      counter.take();
      await attempt(run, input);
      const work = counter.take();
      most = Math.max(most, work);
      if (work > MAX_WORK + MAX_WORK_PER_OCTET * input.length)
        throw new Error(`${work} blocks of code for ${input.length} octets; ${describe(input)}`);
    }
  } finally {
    counter.stop();
  }
  return most;
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
