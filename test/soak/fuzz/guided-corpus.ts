/**
 * The inputs of a target that the fuzzer changes. Inputs that enter a block of our code for the first time join them, so that later
 * inputs begin where the parser has never been.
 *
 * V8 counts the blocks, and needs some milliseconds to report them. So a batch of inputs is tried before it is asked, and only a batch
 * that has reached something new is divided until the inputs are found that did.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { WorkCounter } from '@portolan/kernel/base/testing/work-counter.ts';

/** Inputs whose blocks are asked for together: more while nothing new is found. */
const MIN_BATCH = 32;
const MAX_BATCH = 4096;
/** Longer inputs are not saved: small ones say more. */
const MAX_SAVED_OCTETS = 2048;
const FOLDER = new URL('corpus/', import.meta.url);

export type TryInput = (input: Uint8Array) => void | Promise<void>;

export class GuidedCorpus {
  readonly #name: string;
  readonly #run: TryInput;
  readonly #inputs: Uint8Array[];
  readonly #saved: Uint8Array[];
  readonly #known = new Set<string>();
  readonly #counter = new WorkCounter();
  #found = 0;
  #batch = MIN_BATCH;

  /** @param name of the target, and of the file with its saved inputs */
  constructor(name: string, seeds: readonly Uint8Array[], run: TryInput) {
    this.#name = name;
    this.#run = run;
    this.#saved = readSaved(name);
    this.#inputs = [...seeds, ...this.#saved];
  }

  get inputs(): readonly Uint8Array[] {
    return this.#inputs;
  }

  /** How many inputs to try at once. */
  get batch(): number {
    return this.#batch;
  }

  /** How many inputs have reached something new. */
  get found(): number {
    return this.#found;
  }

  /** How many blocks were entered so far. */
  get blocks(): number {
    return this.#known.size;
  }

  /** Tries the seeds. @throws the error of the target */
  async begin(): Promise<void> {
    for (const input of this.#inputs) await this.#run(input);
    for (const block of this.#counter.takeBlocks()) this.#known.add(block);
  }

  /** Tries inputs, and keeps those that reach something new. @throws the error of the target */
  async tryAll(inputs: readonly Uint8Array[]): Promise<void> {
    const news = await this.#findNewBlocks(inputs);
    this.#batch = news.size > 0 ? MIN_BATCH : Math.min(MAX_BATCH, 2 * this.#batch);
    if (news.size > 0) await this.#find(inputs, news);
    for (const block of news) this.#known.add(block);
  }

  /** Writes inputs that were found to the file of the target. */
  save(): void {
    mkdirSync(FOLDER, { recursive: true });
    const lines = this.#saved.map((input) => Buffer.from(input).toString('base64')).sort();
    writeFileSync(toFileUrl(this.#name), lines.map((line) => `${line}\n`).join(''));
  }

  stop(): void {
    this.#counter.stop();
  }

  async #findNewBlocks(inputs: readonly Uint8Array[]): Promise<ReadonlySet<string>> {
    for (const input of inputs) await this.#run(input);
    return new Set([...this.#counter.takeBlocks()].filter((block) => !this.#known.has(block)));
  }

  /** Divides inputs until each that reaches one of the wanted blocks is alone. */
  async #find(inputs: readonly Uint8Array[], wanted: ReadonlySet<string>): Promise<void> {
    const [only] = inputs;
    if (only === undefined || wanted.size === 0) return;
    if (inputs.length === 1) {
      this.#found += 1;
      this.#inputs.push(only);
      if (only.length <= MAX_SAVED_OCTETS) this.#saved.push(only);
      return;
    }
    const middle = inputs.length >> 1;
    const first = await this.#findNewBlocks(inputs.slice(0, middle));
    const hit = new Set([...wanted].filter((block) => first.has(block)));
    await this.#find(inputs.slice(0, middle), hit);
    await this.#find(inputs.slice(middle), new Set([...wanted].filter((block) => !hit.has(block))));
  }
}

function toFileUrl(name: string): URL {
  return new URL(`${name.toLowerCase().replaceAll(' ', '-')}.txt`, FOLDER);
}

function readSaved(name: string): Uint8Array[] {
  const file = toFileUrl(name);
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => Buffer.from(line, 'base64'));
}
