/**
 * Where the questions of a comparison come from, item by item. An item that cannot be read is counted, and the next one is read.
 */
import { type ItemReading, readItem } from '@portolan/kernel/base/item-guard.ts';
import type { AskedQuestion } from './asked-question.ts';
import { boundedLines } from './bounded-lines.ts';

/** The items that were left out. */
export class LeftOut {
  #count = 0;
  #first: string | undefined;

  get count(): number {
    return this.#count;
  }

  /** The first item and its fault; undefined: none was left out. */
  get first(): string | undefined {
    return this.#first;
  }

  add(item: string, fault: string): void {
    this.#count += 1;
    this.#first ??= `${item}: ${fault}`;
  }
}

/** A line of questions has a name of 255 octets, escaped at most, and some more words. */
const MAX_LINE_OCTETS = 16_384;

/** @param readLine reads a line; undefined: it has no question @param leftOut told of the lines with faults */
export async function* questionsOfLines(
  chunks: AsyncIterable<Uint8Array>,
  readLine: (line: string) => AskedQuestion | undefined,
  leftOut: LeftOut,
): AsyncGenerator<AskedQuestion> {
  let number = 0;
  const tooLong = () => {
    number += 1;
    leftOut.add(`line ${number}`, `more than ${MAX_LINE_OCTETS} octets`);
  };
  for await (const line of boundedLines(chunks, MAX_LINE_OCTETS, tooLong)) {
    number += 1;
    const reading: ItemReading<AskedQuestion | undefined> = readItem(() => readLine(line));
    if (reading.kind === 'rejected') leftOut.add(`line ${number}`, reading.problem);
    else if (reading.result !== undefined) yield reading.result;
  }
}
