/**
 * Lines in bounded memory: the oldest go first. They are compressed by the chunk, since names and sentences repeat; memory is taken as
 * there are lines.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { overlaps, type TimeSpan } from './history-record.ts';

export interface StoredLine extends TimeSpan {
  readonly text: string;
}

interface LineChunk extends TimeSpan {
  readonly octets: Uint8Array;
}

/** Characters of lines that are compressed together: a matter of a millisecond. */
const CHUNK_CHARACTERS = 32_768;
/** What a chunk costs beside its octets. */
const CHUNK_OVERHEAD = 256;
/** The fastest of zlib's levels still saves nine tenths. */
const LEVEL = 1;

export class LineStore {
  readonly #maxOctets: number;
  /** Oldest first. */
  readonly #chunks: LineChunk[] = [];
  #chunkOctets = 0;
  #open: StoredLine[] = [];
  #openCharacters = 0;
  #lostUntil: number | undefined;

  /** @param maxOctets for chunks and for the lines that are not compressed yet */
  constructor(maxOctets: number) {
    this.#maxOctets = maxOctets;
  }

  add(line: StoredLine): void {
    this.#open.push(line);
    this.#openCharacters += line.text.length;
    if (this.#openCharacters >= CHUNK_CHARACTERS) this.#close();
    while (this.octets > this.#maxOctets) this.#dropOldest();
  }

  /** Memory of its lines: octets. A character may take two. */
  get octets(): number {
    return this.#chunkOctets + this.#openCharacters * 2;
  }

  /** When the oldest line begins: milliseconds since 1970; undefined: there is none. */
  get oldest(): number | undefined {
    return this.#chunks[0]?.from ?? this.#open[0]?.from;
  }

  /** Of the lines until then, some are gone: milliseconds since 1970; undefined: none is. */
  get lostUntil(): number | undefined {
    return this.#lostUntil;
  }

  /** Notes that lines until then are gone. */
  lose(until: number): void {
    this.#lostUntil = Math.max(this.#lostUntil ?? until, until);
  }

  /** Lines of these times, in the order in which they came, by the chunk: other work may come in between. */
  *read(from: number, to: number): Iterable<readonly string[]> {
    const isIn = (span: TimeSpan) => overlaps(span, { from, to });
    const open = this.#open.filter(isIn).map(({ text }) => text);
    for (const { octets } of this.#chunks.filter(isIn)) yield inflateRawSync(octets).toString().split('\n');
    yield open;
  }

  #close(): void {
    const text = this.#open.map((line) => line.text).join('\n');
    const chunk = {
      from: this.#open.reduce((least, line) => Math.min(least, line.from), Number.POSITIVE_INFINITY),
      to: this.#open.reduce((most, line) => Math.max(most, line.to), 0),
      // A copy of its own: zlib's buffer is larger.
      octets: Uint8Array.from(deflateRawSync(text, { level: LEVEL })),
    };
    this.#chunks.push(chunk);
    this.#chunkOctets += chunk.octets.length + CHUNK_OVERHEAD;
    this.#open = [];
    this.#openCharacters = 0;
  }

  #dropOldest(): void {
    const dropped = this.#chunks.shift();
    if (dropped === undefined) {
      this.#close();
      return;
    }
    this.#chunkOctets -= dropped.octets.length + CHUNK_OVERHEAD;
    this.lose(dropped.to);
  }
}
