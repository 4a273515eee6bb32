/**
 * A small hash table of names inside a block of the table, used for ask rules and for the zones of server blocks.
 *
 * A reader looks up the question's name and its suffixes, with one probe for each number of labels in the table.
 */
import { countLabels, finishHash } from './hash.ts';
import { NAME_TABLE, padded } from './layout.ts';
import type { TableViews } from './memory.ts';
import type { QuestionReader } from './question.ts';

export interface NameEntry {
  /** Lower case, uncompressed. */
  readonly name: Uint8Array;
  /** 24 bits stored with the length of the name. */
  readonly tag: number;
  /** The octets after the name: whole words. */
  readonly content: Uint8Array;
}

/**
 * @param entries at least one; no two have the same name
 * @param hashWireName the unsalted hash of a name
 * @returns octets of whole words
 */
export function encodeNameTable(
  entries: readonly NameEntry[],
  hashWireName: (name: Uint8Array) => number,
): Uint8Array {
  const log2 = Math.ceil(Math.log2(entries.length * 2));
  const start = NAME_TABLE.SLOTS + 8 * 2 ** log2;
  const total = entries.reduce((sum, entry) => sum + computeEntrySize(entry), start);
  const block = new Uint8Array(total);
  const words = new Int32Array(block.buffer);
  words[NAME_TABLE.SHAPE >> 2] = log2 | (boundLabels(entries) << 8);
  let at = start;
  for (const entry of entries) {
    const hash = finishHash(hashWireName(entry.name));
    let slot = hash & (2 ** log2 - 1);
    while (words[(NAME_TABLE.SLOTS >> 2) + slot * 2 + 1] !== 0) slot = (slot + 1) & (2 ** log2 - 1);
    words[(NAME_TABLE.SLOTS >> 2) + slot * 2] = hash;
    words[(NAME_TABLE.SLOTS >> 2) + slot * 2 + 1] = at;
    words[at >> 2] = entry.name.length | (entry.tag << 8);
    block.set(entry.name, at + 4);
    block.set(entry.content, at + 4 + padded(entry.name.length));
    at += computeEntrySize(entry);
  }
  return block;
}

const computeEntrySize = ({ name, content }: NameEntry): number => 4 + padded(name.length) + content.length;

/** The minimum of labels, and the maximum << 8. */
function boundLabels(entries: readonly NameEntry[]): number {
  let min = 255;
  let max = 0;
  for (const { name } of entries) {
    const labels = countLabels(name);
    min = Math.min(min, labels);
    max = Math.max(max, labels);
  }
  return min | (max << 8);
}

/** The smallest number of labels in a table. @param table its first octet */
export const readMinLabels = ({ words }: TableViews, table: number): number =>
  ((words[(table + NAME_TABLE.SHAPE) >> 2] ?? 0) >>> 8) & 0xff;
export const readMaxLabels = ({ words }: TableViews, table: number): number =>
  ((words[(table + NAME_TABLE.SHAPE) >> 2] ?? 0) >>> 16) & 0xff;

/**
 * The entry of the question's name without its first labels.
 *
 * @param table its first octet
 * @returns an octet, or 0
 */
export function findNameEntry(
  { words }: TableViews,
  table: number,
  question: QuestionReader,
  skipped: number,
): number {
  const slots = 1 << ((words[(table + NAME_TABLE.SHAPE) >> 2] ?? 0) & 31);
  const hash = finishHash(skipped === 0 ? question.hash : question.hashWithout(skipped)) >>> 0;
  const from = question.labelStarts[skipped] ?? 0;
  const length = question.nameLength - from;
  // At least half of the slots are empty.
  for (let slot = hash & (slots - 1); ; slot = (slot + 1) & (slots - 1)) {
    const word = (table + NAME_TABLE.SLOTS + slot * 8) >> 2;
    const offset = words[word + 1] ?? 0;
    if (offset === 0) return 0;
    const entry = table + offset;
    if (words[word] !== hash || ((words[entry >> 2] ?? 0) & 0xff) !== length) continue;
    // Both are zero behind their ends.
    let same = 0;
    while (same < length && words[(entry + 4 + same) >> 2] === question.wordAt(from + same) >>> 0) same += 4;
    if (same >= length) return entry;
  }
}
