/**
 * A cluster's records as one piece of octets that means the same in any process: the body of a snapshot. It has what the API server
 * said, and nothing that follows from it: entries, claims of addresses and indexes are made again, by this process's keys.
 *
 * Numbers are in the byte order of the machine:
 *
 *     0   `LAYOUT`, the number of this layout and that of records
 *     4   namespaces
 *     8   services
 *     12  slices
 *     16  octets of the keys
 *     20  octets of the records
 *     24  per namespace: whether it is an object; how many services follow for it, 4 octets; its label
 *     ..  per service, in the order of the namespaces: whether it has a record; its label
 *     ..  per slice: the number of its service, 4 octets; octets of its name, 2 octets; its name
 *     ..  padding to a word; then the records of services and of slices, in the same order
 *
 * Records lie as in the table, each in a block of the arena's size classes, so that one copy makes them blocks of the table.
 */
import { roundToClass } from '../table/arena.ts';
import { Octets } from './drafts.ts';
import { NAMESPACE, SERVICE, SERVICE_RECORD, SLICE } from './layout.ts';
import type { RecordWriter } from './record-writer.ts';

/** Increase it when this layout or that of a record changes. In another byte order it is another number. */
export const LAYOUT = 1;
export const SEGMENT = { LAYOUT: 0, NAMESPACES: 1, SERVICES: 2, SLICES: 3, KEY_OCTETS: 4, RECORD_OCTETS: 5 };
export const HEAD_OCTETS = 24;

/** Copies all records as they are now. @returns parts to be written one after another */
export function copySegment(writer: RecordWriter): readonly Uint8Array[] {
  const { octets } = writer.space.views;
  const keys = new Octets();
  const records = new RecordCopies(writer);
  const numbers = new Map<number, number>();
  let namespaces = 0;
  for (const namespace of writer.namespaces()) {
    namespaces++;
    const before = numbers.size;
    for (const service of writer.listServices(namespace)) numbers.set(service, numbers.size);
    keys.push(writer.isObject(namespace) ? 1 : 0);
    pushNumber(keys, numbers.size - before, 4);
    appendLabel(keys, octets, namespace + NAMESPACE.KEY);
  }
  for (const service of numbers.keys()) {
    keys.push(records.add(service + SERVICE.RECORD, SERVICE_RECORD.SIZE) ? 1 : 0);
    appendLabel(keys, octets, service + SERVICE.KEY);
  }
  for (const slice of writer.slices.all()) {
    const key = writer.slices.readKey(slice);
    const nameAt = 1 + (key[0] ?? 0);
    pushNumber(keys, numbers.get(writer.slices.readService(slice)) ?? 0, 4);
    pushNumber(keys, key.length - nameAt, 2);
    keys.append(key, nameAt, key.length);
    records.add(slice + SLICE.RECORD, 0);
  }
  while (keys.length % 4 !== 0) keys.push(0);
  const counts = [namespaces, numbers.size, writer.slices.count, keys.length, records.octets.length];
  const head = Uint32Array.of(LAYOUT, ...counts);
  return [new Uint8Array(head.buffer), keys.items.subarray(0, keys.length), records.octets];
}

/** Records, copied one behind another. */
class RecordCopies {
  readonly #words: Uint32Array;
  readonly #to: Uint32Array;
  /** Words so far. */
  #length = 0;

  constructor({ space }: RecordWriter) {
    this.#words = space.views.words;
    // Records are rounded up by an eighth at most, small ones by less than their entries take.
    this.#to = new Uint32Array(Math.ceil(space.octets / 32) * 9);
  }

  get octets(): Uint8Array {
    return new Uint8Array(this.#to.buffer, 0, this.#length * 4);
  }

  /** @param field refers to the record, 0 for none; @param sizeAt where a record has its size; @returns whether there is one */
  add(field: number, sizeAt: number): boolean {
    const words = this.#words;
    const record = words[field >> 2] ?? 0;
    if (record === 0) return false;
    const size = words[(record + sizeAt) >> 2] ?? 0;
    const to = this.#to;
    const end = (record + size) >> 2;
    // Quicker for records of the usual size than one copy, which needs a new view.
    for (let word = record >> 2, at = this.#length; word < end; word++, at++) to[at] = words[word] ?? 0;
    this.#length += roundToClass(size) >> 2;
    return true;
  }
}

function appendLabel(to: Octets, from: Uint8Array, at: number): void {
  to.append(from, at, at + 1 + (from[at] ?? 0));
}

function pushNumber(to: Octets, value: number, octets: number): void {
  for (let octet = 0; octet < octets; octet++) to.push(value >>> (octet * 8));
}
