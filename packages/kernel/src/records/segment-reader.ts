/**
 * Reads a segment (see `segment.ts`) from a file. All of it is checked before any of it is in the table: each count, each length, each
 * offset in a record.
 */
import { roundToClass } from '../table/arena.ts';
import { padded } from '../table/layout.ts';
import { isServiceRecord, isSliceRecord, type RecordMemory } from './check-record.ts';
import { isObjectLabel } from './drafts.ts';
import { SECTION, SERVICE, SERVICE_RECORD, SLICE, SLICE_RECORD } from './layout.ts';
import { HEAD_OCTETS, LAYOUT, SEGMENT } from './segment.ts';

/** The fewest octets of a key: a flag, a label of one octet; a number, the length of a name, the name. */
const MIN_KEY = 3;
/** The place of a record that does not exist. */
export const NO_RECORD = -1;

/** Keys by where they are in the octets of the segment, records by where they are among the records. */
export class Segment {
  /** The octets of the segment; more may follow. */
  readonly length: number;
  readonly #memory: RecordMemory;
  readonly #keysEnd: number;
  /** The labels of the namespaces that are objects. */
  readonly namespaces: number[] = [];
  readonly serviceLabels: Int32Array;
  readonly namespaceLabels: Int32Array;
  readonly serviceRecords: Int32Array;
  /** Per slice: the number of its service. */
  readonly services: Int32Array;
  readonly sliceNames: Int32Array;
  readonly sliceRecords: Int32Array;
  /** Octets of the records without what their blocks are rounded up by. */
  size = 0;
  /** Octets of the entries of services and slices. */
  entryOctets = 0;
  /** Addresses of services and of ready endpoints. */
  ipv4 = 0;
  ipv6 = 0;
  #at = HEAD_OCTETS;
  #recordAt = 0;

  private constructor(memory: RecordMemory, head: Uint32Array) {
    const field = (index: number) => head[index] ?? 0;
    this.#memory = memory;
    this.#keysEnd = HEAD_OCTETS + field(SEGMENT.KEY_OCTETS);
    this.length = this.#keysEnd + field(SEGMENT.RECORD_OCTETS);
    const services = field(SEGMENT.SERVICES);
    const slices = field(SEGMENT.SLICES);
    [this.serviceLabels, this.namespaceLabels, this.serviceRecords] = makeTriple(services);
    [this.services, this.sliceNames, this.sliceRecords] = makeTriple(slices);
  }

  /** @param octets begin with a segment; @returns undefined if they do not */
  static read(octets: Uint8Array): Segment | undefined {
    // Words are read where they lie.
    const aligned = octets.byteOffset % 4 === 0 ? octets : new Uint8Array(octets);
    const length = aligned.length & ~3;
    const memory = {
      octets: aligned,
      words: new Uint32Array(aligned.buffer, aligned.byteOffset, length / 4),
    };
    const head = memory.words.subarray(0, HEAD_OCTETS / 4);
    const [layout, namespaces = 0, services = 0, slices = 0, keyOctets = 0, recordOctets = 0] = head;
    const isPossible =
      layout === LAYOUT &&
      (keyOctets | recordOctets) % 4 === 0 &&
      HEAD_OCTETS + keyOctets + recordOctets <= length &&
      (namespaces + services + slices) * MIN_KEY <= keyOctets;
    if (!isPossible) return undefined;
    const segment = new Segment(memory, head);
    return segment.#read(namespaces) ? segment : undefined;
  }

  get records(): Uint8Array {
    return this.#memory.octets.subarray(this.#keysEnd, this.length);
  }

  /** Services and slices. */
  get count(): number {
    return this.serviceLabels.length + this.sliceNames.length;
  }

  /** Octets of a record. @param sizeAt where a record has its size */
  readSize(record: number, sizeAt: number): number {
    return this.#memory.words[(this.#keysEnd + record + sizeAt) >> 2] ?? 0;
  }

  /** Copies the labels of a service and of its namespace. @returns how many octets they are */
  copyServiceKey(number: number, to: Uint8Array, start: number): number {
    const length = this.#copyLabel(this.serviceLabels[number] ?? 0, to, start);
    return length + this.#copyLabel(this.namespaceLabels[number] ?? 0, to, start + length);
  }

  /** Copies the label of a slice's namespace and its name. @returns how many octets they are */
  copySliceKey(number: number, to: Uint8Array, start: number): number {
    const { octets } = this.#memory;
    const label = this.#copyLabel(this.namespaceLabels[this.services[number] ?? 0] ?? 0, to, start);
    const at = (this.sliceNames[number] ?? 0) + 2;
    const length = this.#nameLength(number);
    for (let index = 0; index < length; index++) to[start + label + index] = octets[at + index] ?? 0;
    return label + length;
  }

  #nameLength(slice: number): number {
    const at = this.sliceNames[slice] ?? 0;
    return (this.#memory.octets[at] ?? 0) | ((this.#memory.octets[at + 1] ?? 0) << 8);
  }

  /** Octets of a label with its length. */
  #labelLength(at: number): number {
    return 1 + (this.#memory.octets[at] ?? 0);
  }

  /** @param at where the label has its length */
  labelAt(at: number): Uint8Array {
    return this.#memory.octets.subarray(at, at + this.#labelLength(at));
  }

  #copyLabel(at: number, to: Uint8Array, start: number): number {
    const { octets } = this.#memory;
    const length = this.#labelLength(at);
    for (let index = 0; index < length; index++) to[start + index] = octets[at + index] ?? 0;
    return length;
  }

  #read(namespaces: number): boolean {
    return (
      this.#readNamespaces(namespaces) &&
      this.#readServices() &&
      this.#readSlices() &&
      this.#keysEnd - this.#at < 4 &&
      this.#keysEnd + this.#recordAt === this.length
    );
  }

  #readNamespaces(count: number): boolean {
    let services = 0;
    for (let left = count; left > 0; left--) {
      const isObject = this.#number(1) === 1;
      const own = this.#number(4);
      const at = this.#at;
      if (own > this.namespaceLabels.length - services || !this.#passLabel()) return false;
      if (isObject) this.namespaces.push(at);
      this.namespaceLabels.fill(at, services, services + own);
      services += own;
    }
    return services === this.namespaceLabels.length;
  }

  #readServices(): boolean {
    for (let service = 0; service < this.serviceLabels.length; service++) {
      const hasRecord = this.#number(1) === 1;
      this.serviceLabels[service] = this.#at;
      if (!this.#passLabel()) return false;
      const namespace = this.namespaceLabels[service] ?? 0;
      this.#countEntry(SERVICE.KEY, this.#at - (this.serviceLabels[service] ?? 0), namespace);
      this.serviceRecords[service] = hasRecord ? this.#recordAt : NO_RECORD;
      if (!hasRecord) continue;
      const head = this.#memory.words[(this.#keysEnd + this.#recordAt) >> 2] ?? 0;
      if (!this.#passRecord(SERVICE_RECORD.SIZE, isServiceRecord)) return false;
      this.ipv4 += (head >>> 8) & 0xff;
      this.ipv6 += (head >>> 16) & 0xff;
    }
    return true;
  }

  #readSlices(): boolean {
    for (let slice = 0; slice < this.sliceNames.length; slice++) {
      const service = this.#number(4);
      this.services[slice] = service;
      this.sliceNames[slice] = this.#at;
      const length = this.#number(2);
      this.#at += length;
      if (service >= this.serviceLabels.length || length === 0 || this.#at > this.#keysEnd) return false;
      this.#countEntry(SLICE.KEY, length, this.namespaceLabels[service] ?? 0);
      this.sliceRecords[slice] = this.#recordAt;
      const record = this.#keysEnd + this.#recordAt;
      if (!this.#passRecord(SLICE_RECORD.SIZE, isSliceRecord)) return false;
      this.#countEndpoints(record);
    }
    return true;
  }

  /** @param length octets of the key besides the label of the namespace, which is at `namespace` */
  #countEntry(start: number, length: number, namespace: number): void {
    this.entryOctets += roundToClass(start + padded(length + this.#labelLength(namespace)));
  }

  #countEndpoints(record: number): void {
    const { words } = this.#memory;
    let section = record + SLICE_RECORD.FIRST;
    for (let left = words[(record + SLICE_RECORD.SECTIONS) >> 2] ?? 0; left > 0; left--) {
      const ready = (words[(section + SECTION.COUNTS) >> 2] ?? 0) & 0xffff;
      if ((((words[(section + SECTION.SHAPE) >> 2] ?? 0) >>> 16) & 0xff) === 4) this.ipv4 += ready;
      else this.ipv6 += ready;
      section += words[(section + SECTION.SIZE) >> 2] ?? 0;
    }
  }

  #number(octets: number): number {
    let value = 0;
    for (let octet = 0; octet < octets; octet++)
      value |= (this.#memory.octets[this.#at + octet] ?? 0) << (octet * 8);
    this.#at += octets;
    return value >>> 0;
  }

  #passLabel(): boolean {
    const { octets } = this.#memory;
    const start = this.#at + 1;
    this.#at = start + (octets[this.#at] ?? 0);
    return this.#at <= this.#keysEnd && isObjectLabel(octets, start, this.#at);
  }

  #passRecord(sizeAt: number, isRecord: typeof isServiceRecord): boolean {
    const record = this.#keysEnd + this.#recordAt;
    const size = record + 8 <= this.length ? this.readSize(this.#recordAt, sizeAt) : 0;
    const block = size === 0 ? 0 : roundToClass(size);
    if (block === 0 || record + block > this.length || size % 4 !== 0) return false;
    this.#recordAt += block;
    this.size += size;
    return isRecord(this.#memory, record, record + size);
  }
}

function makeTriple(length: number): [Int32Array, Int32Array, Int32Array] {
  return [new Int32Array(length), new Int32Array(length), new Int32Array(length)];
}
