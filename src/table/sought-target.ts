/**
 * A name in the table's memory as a composer takes it: the target of a redirect.
 */
import type { Sought } from './composer.ts';

const MAX_NAME = 255;
const MAX_LABELS = 128;

export class SoughtTarget implements Sought {
  readonly name = new Uint8Array(MAX_NAME + 9);
  readonly #view = new DataView(this.name.buffer);
  readonly labelStarts = new Uint8Array(MAX_LABELS);
  nameLength = 0;
  labels = 0;
  type = 0;

  wordAt(at: number): number {
    return this.#view.getInt32(at, true);
  }

  /** @param at where the name begins in `octets`, in wire form and lower case */
  load(octets: Uint8Array, at: number, length: number, type: number): void {
    for (let index = 0; index < length; index++) this.name[index] = octets[at + index] ?? 0;
    // Composers read whole words.
    this.name.fill(0, length);
    this.nameLength = length;
    this.type = type;
    this.labels = 0;
    for (let start = 0; start < length; start += (this.name[start] ?? 0) + 1) {
      this.labelStarts[this.labels] = start;
      if ((this.name[start] ?? 0) === 0) return;
      this.labels++;
    }
  }
}
