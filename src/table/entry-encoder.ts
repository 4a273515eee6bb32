/**
 * Makes the entry of a cached answer outside of the writer's thread: the writer then only has to find a place for it.
 */
import { BlockBuffer, cachedFlags, encodeCached } from './block.ts';
import { finishQuestion, HASH_KEYS, hashName } from './hash.ts';
import { HEADER, UNIT_SHIFT, VIEW } from './layout.ts';
import { type TableViews, viewTable } from './memory.ts';
import { type CachedAnswer, DEFAULT_VIEW } from './types.ts';

export class EntryEncoder {
  readonly #views: TableViews;
  readonly #keys: Int32Array;
  readonly #buffer = new BlockBuffer();

  constructor(memory: SharedArrayBuffer) {
    this.#views = viewTable(memory);
    this.#keys = this.#views.atoms.slice(HEADER.KEYS, HEADER.KEYS + HASH_KEYS);
  }

  /** The memory that entries are written to, each from its beginning on. */
  get octets(): Uint8Array {
    return this.#buffer.octets;
  }

  /**
   * Writes the entry of an answer in the default view. To be called in a batch of the reader, see `TableReader.enter`.
   *
   * @param answer as for `TableWriter.cache`; its outcome must have counters
   * @param now milliseconds of the monotonic clock that all threads share
   * @returns its octets
   */
  encode(answer: CachedAnswer, now: number): number {
    const { atoms } = this.#views;
    const keys = this.#keys;
    const directory = (atoms[HEADER.VIEWS] ?? 0) << (UNIT_SHIFT - 2);
    const record = (atoms[directory + DEFAULT_VIEW] ?? 0) << (UNIT_SHIFT - 2);
    const salt = atoms[record + (VIEW.SALT >> 2)] ?? 0;
    const cache = (atoms[record + (VIEW.CACHE >> 2)] ?? 0) & 0xffff;
    const nameHash = hashName(answer.name, keys) ^ salt;
    const hash = finishQuestion(nameHash, keys, answer.type, answer.class, cachedFlags(answer));
    encodeCached(this.#buffer, answer, { hash, cache, now: Math.floor(now / 1000) });
    return this.#buffer.length;
  }
}
