/**
 * Makes the records of a segment those of a cluster that has none.
 *
 * A start waits for it, and most of its time is that of code which is not compiled yet. So it consists of few loops, and takes memory
 * for all records and entries at once.
 */
import { roundToClass, TableFullError } from '../table/arena.ts';
import { padded } from '../table/layout.ts';
import {
  ADDRESS,
  NO_SLOT,
  SECTION,
  SERVICE,
  SERVICE_RECORD,
  SLICE,
  SLICE_LIST,
  SLICE_RECORD,
} from './layout.ts';
import type { RecordWriter } from './record-writer.ts';
import { NO_RECORD, type Segment } from './segment-reader.ts';

/** Octets of the entry of an address. */
const IPV4_ENTRY = roundToClass(ADDRESS.KEY + 4);
const IPV6_ENTRY = roundToClass(ADDRESS.KEY + 16);

const sizeOfEntry = (start: number, length: number): number => roundToClass(start + padded(length));
const sizeOfList = (slots: number): number => SLICE_LIST.RECORDS + slots * 4;

/**
 * No reader may see the cluster yet.
 *
 * @throws TableFullError and takes in no more than namespaces
 */
export function loadSegment(writer: RecordWriter, segment: Segment): void {
  new SegmentLoader(writer, segment).load();
}

class SegmentLoader {
  readonly #writer: RecordWriter;
  readonly #segment: Segment;
  readonly #words: Uint32Array;
  /** The entries of services by number, 0 for those that are there already. */
  readonly #entries: Int32Array;
  /** Slices of each service; then which of its slots is the next. */
  readonly #slots: Int32Array;
  /** The first record in the table. */
  #records = 0;
  /** The unused rest of the memory. */
  #at = 0;

  constructor(writer: RecordWriter, segment: Segment) {
    this.#writer = writer;
    this.#segment = segment;
    this.#words = writer.space.views.words;
    this.#entries = new Int32Array(segment.serviceLabels.length);
    this.#slots = new Int32Array(segment.serviceLabels.length);
  }

  load(): void {
    const { space } = this.#writer;
    const segment = this.#segment;
    for (const label of segment.namespaces) this.#writer.putNamespace(segment.labelAt(label), 0);
    for (const service of segment.services) this.#slots[service] = (this.#slots[service] ?? 0) + 1;
    const { ipv4, ipv6 } = segment;
    const addresses = ipv4 * IPV4_ENTRY + ipv6 * IPV6_ENTRY;
    const octets = segment.records.length + segment.entryOctets + this.#sizeOfLists() + addresses;
    this.#records = space.takeRun(octets, segment.count + ipv4 + ipv6);
    space.views.octets.set(segment.records, this.#records);
    space.count(segment.size);
    this.#at = this.#records + segment.records.length;
    this.#addServices();
    this.#addSlices();
    space.giveRun(this.#at, this.#records + octets - this.#at);
    for (const entry of this.#entries) if (entry !== 0) this.#writer.settle(entry);
  }

  #sizeOfLists(): number {
    let size = 0;
    for (const slots of this.#slots) if (slots > 0) size += roundToClass(sizeOfList(slots));
    return size;
  }

  #addServices(): void {
    const segment = this.#segment;
    const { octets } = this.#writer.space.views;
    /** The entry before, 0 if it is not one. */
    let last = 0;
    for (let service = 0; service < this.#entries.length; service++) {
      const entry = this.#at;
      const length = segment.copyServiceKey(service, octets, entry + SERVICE.KEY);
      const place = segment.serviceRecords[service] ?? NO_RECORD;
      const record = place === NO_RECORD ? 0 : this.#records + place;
      const isOfSame =
        last !== 0 && segment.namespaceLabels[service] === segment.namespaceLabels[service - 1];
      if (!this.#adoptService(entry, length, record, isOfSame ? last : 0)) {
        last = 0;
        this.#clear(entry, SERVICE.KEY + length);
        if (record !== 0) this.#give(record, SERVICE_RECORD.SIZE);
        continue;
      }
      this.#entries[service] = entry;
      last = entry;
      this.#at += sizeOfEntry(SERVICE.KEY, length);
      this.#addList(entry, this.#slots[service] ?? 0);
      this.#slots[service] = 0;
      if (record !== 0) this.#claimOwn(entry, record);
    }
  }

  #adoptService(entry: number, length: number, record: number, last: number): boolean {
    try {
      return this.#writer.adoptService(entry, length, record, last);
    } catch (error) {
      if (error instanceof TableFullError) return false;
      throw error;
    }
  }

  #addList(service: number, slots: number): void {
    if (slots === 0) return;
    const size = sizeOfList(slots);
    this.#words[this.#at >> 2] = slots;
    this.#words[(service + SERVICE.SLICES) >> 2] = this.#at;
    this.#writer.space.count(size);
    this.#at += roundToClass(size);
  }

  #addSlices(): void {
    const segment = this.#segment;
    const { slices, space } = this.#writer;
    for (let slice = 0; slice < segment.services.length; slice++) {
      const number = segment.services[slice] ?? 0;
      const service = this.#entries[number] ?? 0;
      const record = this.#records + (segment.sliceRecords[slice] ?? 0);
      const slot = this.#slots[number] ?? 0;
      const entry = this.#at;
      const length = service === 0 ? 0 : segment.copySliceKey(slice, space.views.octets, entry + SLICE.KEY);
      if (service === 0 || !slices.adopt(entry, length, service, slot, record)) {
        this.#clear(entry, SLICE.KEY + length);
        this.#give(record, SLICE_RECORD.SIZE);
        continue;
      }
      this.#slots[number] = slot + 1;
      this.#at += sizeOfEntry(SLICE.KEY, length);
      this.#claimEndpoints(service, slot, record);
    }
  }

  #claimOwn(service: number, record: number): void {
    const head = this.#words[record >> 2] ?? 0;
    const ipv4 = record + SERVICE_RECORD.ADDRESSES;
    const ipv6 = ipv4 + ((head >>> 8) & 0xff) * 4;
    const end = ipv6 + ((head >>> 16) & 0xff) * 16;
    for (let at = ipv4; at < ipv6; at += 4) this.#claim(at, 4, service, NO_SLOT);
    for (let at = ipv6; at < end; at += 16) this.#claim(at, 16, service, NO_SLOT);
  }

  #claimEndpoints(service: number, slot: number, record: number): void {
    const words = this.#words;
    let section = record + SLICE_RECORD.FIRST;
    for (let left = words[(record + SLICE_RECORD.SECTIONS) >> 2] ?? 0; left > 0; left--) {
      const octets = ((words[(section + SECTION.SHAPE) >> 2] ?? 0) >>> 16) & 0xff;
      const ready = (words[(section + SECTION.COUNTS) >> 2] ?? 0) & 0xffff;
      const end = section + SECTION.ADDRESSES + ready * octets;
      for (let at = section + SECTION.ADDRESSES; at < end; at += octets)
        if (!this.#claim(at, octets, service, slot)) this.#writer.slices.noteRepeats(service);
      section += words[(section + SECTION.SIZE) >> 2] ?? 0;
    }
  }

  /** @returns whether the service is the first one with the address */
  #claim(at: number, octets: number, service: number, slot: number): boolean {
    let isNew = false;
    try {
      isNew = this.#writer.claims.adopt(this.#at, at, octets, service, slot);
    } catch (error) {
      // The address has the names of its first services only.
      if (!(error instanceof TableFullError)) throw error;
    }
    if (isNew) this.#at += octets === 4 ? IPV4_ENTRY : IPV6_ENTRY;
    else this.#clear(this.#at, ADDRESS.KEY + octets);
    return isNew;
  }

  /** Gives back a record that is not used. */
  #give(record: number, sizeAt: number): void {
    this.#writer.space.give(record, this.#words[(record + sizeAt) >> 2] ?? 0);
  }

  /** Makes memory zero again that no entry was made of. */
  #clear(at: number, octets: number): void {
    this.#words.fill(0, at >> 2, (at + padded(octets)) >> 2);
  }
}
