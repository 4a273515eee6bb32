/**
 * The index of a large service's endpoints, by label and by address: the writer's side. Readers walk the slices of a small
 * service one by one.
 *
 * A cell leads to a slot, not to an endpoint. So a label that a slice keeps when it changes keeps its cell, and readers miss
 * it at no moment.
 */
import { TableFullError } from '../table/arena.ts';
import type { TableViews } from '../table/memory.ts';
import type { RecordSpace } from '../table/record-space.ts';
import {
  Alignment,
  areUnique,
  type HashDifference,
  PlaceList,
  readLabelWord,
  SEVERAL,
  SmallDifference,
  WholeDifference,
} from './endpoint-difference.ts';
import { MADE_LABEL } from './endpoint-writer.ts';
import {
  CELL,
  EMPTIED,
  ENDPOINT_INDEX,
  INDEXED,
  MAX_HINTS,
  MAX_SLOTS,
  NO_SLOT,
  SERVICE,
  SERVICE_FLAG,
  SLICE_LIST,
  SLOT_SHIFT,
} from './layout.ts';
import {
  type AddressValue,
  listSections,
  readEndpointAddress,
  readEndpointHostname,
  readyIn,
  toAddressOctets,
} from './slice-addresses.ts';

/** Services with more ready endpoints than this have an index, and lose it when they have half as many. */
const MAX_WALKED = 64;
const FIRST_SHIFT = 8;

/** Writes the label of an IPv4 endpoint without a hostname, its length first. @returns its octets */
export type WriteLabel = (to: Uint8Array, address: number) => number;

/** More endpoints than this that come or go together are compared as a whole. */
const MAX_SMALL = 32;

/** What an index leads to a slice from. If few endpoints change, only that of these. */
interface SliceKeys {
  readonly addresses: ReadonlySet<AddressValue>;
  readonly hostnames: ReadonlySet<string>;
  /** Endpoints and hostnames that repeat others of the slice. */
  readonly overlaps: number;
  readonly shares: number;
  /** Labels that are made from IPv6 addresses. */
  readonly made: number;
}

/** The hashes of a slice of an indexed service. */
interface SliceHashes {
  /** Per ready endpoint: of its address, then of its label. */
  readonly hashes: Int32Array;
  /** Whether none occurs twice. */
  readonly areUnique: boolean;
}

const NO_HASHES: SliceHashes = { hashes: new Int32Array(0), areUnique: true };

/** A record that takes the place of another one, 0 for none. */
export interface SlotChange {
  readonly service: number;
  readonly slot: number;
  readonly before: number;
  readonly record: number;
}

/** A change of the record in one slot of an indexed service. */
export interface IndexChange extends SlotChange {
  readonly former: SliceKeys;
  readonly now: SliceKeys;
  readonly hashes: SliceHashes;
  readonly difference: HashDifference;
}

export class EndpointIndex {
  readonly #space: RecordSpace;
  readonly #words: Int32Array;
  readonly #writeLabel: WriteLabel;
  readonly #label = new Uint8Array(256);
  /** The hashes of the slices of indexed services, by the octets of their records: most stay as they are when a slice changes. */
  readonly #hashes = new Map<number, SliceHashes>();
  readonly #former = new PlaceList();
  readonly #latter = new PlaceList();
  readonly #alignment = new Alignment();

  constructor(space: RecordSpace, writeLabel: WriteLabel) {
    this.#space = space;
    this.#words = space.views.atoms;
    this.#writeLabel = writeLabel;
  }

  isKept(service: number): boolean {
    return this.#get(service + SERVICE.INDEX) !== 0;
  }

  /** Adds or removes the index of a service whose endpoints have changed. */
  fit(service: number): void {
    const ready = this.#get(service + SERVICE.READY);
    if (this.isKept(service)) {
      if (ready <= MAX_WALKED / 2) this.drop(service);
    } else if (ready > MAX_WALKED) this.#build(service);
  }

  /** Removes the index of a service, if it has one. */
  drop(service: number): void {
    const index = this.#get(service + SERVICE.INDEX);
    if (index === 0) return;
    const list = this.#get(service + SERVICE.SLICES);
    for (let slot = 0, slots = list === 0 ? 0 : this.#get(list); slot < slots; slot++)
      this.#hashes.delete(this.#get(list + SLICE_LIST.RECORDS + slot * 4));
    this.#space.store(service + SERVICE.INDEX, 0);
    this.#space.retire(index, computeSize(this.#get(index)));
  }

  /**
   * Begins a change: readers of the record that comes find all of it. The index goes if the table has no room for it.
   *
   * @returns undefined for a service without an index
   */
  begin(slotChange: SlotChange): IndexChange | undefined {
    if (!this.isKept(slotChange.service)) return undefined;
    const change = this.#computeChange(slotChange);
    try {
      this.#add(change);
      return change;
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      this.drop(slotChange.service);
      return undefined;
    }
  }

  /** Ends a change: readers see the record. */
  end({ service, slot, before, record, former, now, hashes, difference }: IndexChange): void {
    const { added, moved, gone } = difference;
    for (const [hash, endpoint] of added) this.#setCell(service, hash, encodePlace(slot, endpoint));
    for (let index = 0; index < moved.length; index += 2)
      this.#setCell(service, moved[index] ?? 0, encodePlace(slot, moved[index + 1] ?? 0));
    for (const hash of gone) this.#emptyCell(service, hash, slot);
    const others = this.#countElsewhere(service, slot, former, now);
    this.#count(service, ENDPOINT_INDEX.OVERLAPS, -former.overlaps - others.addresses);
    this.#count(service, ENDPOINT_INDEX.SHARES, -former.shares - others.hostnames);
    this.#count(service, ENDPOINT_INDEX.MADE, -former.made);
    this.#hashes.delete(before);
    if (record !== 0) this.#hashes.set(record, hashes);
  }

  /** Which of `SERVICE_FLAG` the ready endpoints of an indexed service need. */
  repeats(service: number): number {
    const index = this.#get(service + SERVICE.INDEX);
    const overlaps = this.#get(index + ENDPOINT_INDEX.OVERLAPS) > 0 ? SERVICE_FLAG.OVERLAPS : 0;
    return overlaps | (this.#get(index + ENDPOINT_INDEX.SHARES) > 0 ? SERVICE_FLAG.SHARES : 0);
  }

  /** Whether a slice of an indexed service has an address. */
  hasAddress(service: number, address: AddressValue): boolean {
    return this.#isElsewhere(service, NO_SLOT, this.#hashOfAddress(address), (record) =>
      hasAddress(this.#space.views, record, address),
    );
  }

  #add({ service, slot, former, now, difference }: IndexChange): void {
    if (slot >= MAX_SLOTS) throw new TableFullError(0);
    // An endpoint that is the only one of its hash now may be one of several soon.
    for (const [hash, endpoint] of difference.added)
      if (!difference.had(hash)) this.#fillCell(service, hash, encodePlace(slot, SEVERAL));
      else if (endpoint === SEVERAL) this.#setCell(service, hash, encodePlace(slot, SEVERAL));
    const more = this.#countElsewhere(service, slot, now, former);
    this.#count(service, ENDPOINT_INDEX.OVERLAPS, now.overlaps + more.addresses);
    this.#count(service, ENDPOINT_INDEX.SHARES, now.shares + more.hostnames);
    this.#count(service, ENDPOINT_INDEX.MADE, now.made);
  }

  #build(service: number): void {
    try {
      const index = this.#newBlock(FIRST_SHIFT);
      this.#space.store(service + SERVICE.INDEX, index);
      const list = this.#get(service + SERVICE.SLICES);
      for (let slot = 0, slots = this.#get(list); slot < slots; slot++) {
        const record = this.#get(list + SLICE_LIST.RECORDS + slot * 4);
        // Each slice is compared with those before it.
        if (record === 0) continue;
        const change = this.#computeChange({ service, slot, before: 0, record });
        this.#add(change);
        this.end(change);
      }
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
      this.drop(service);
    }
  }

  #get(at: number): number {
    return this.#words[at >> 2] ?? 0;
  }

  /** Adds to one of the numbers of an index. */
  #count(service: number, field: number, more: number): void {
    const at = this.#get(service + SERVICE.INDEX) + field;
    if (more !== 0) this.#space.store(at, this.#get(at) + more);
  }

  /** How many of the addresses and hostnames of one record, those of another left out, occur in other slices. */
  #countElsewhere(
    service: number,
    slot: number,
    { addresses, hostnames }: SliceKeys,
    except: SliceKeys,
  ): { readonly addresses: number; readonly hostnames: number } {
    const { views } = this.#space;
    const found = { addresses: 0, hostnames: 0 };
    for (const address of addresses) {
      if (except.addresses.has(address)) continue;
      const hash = this.#hashOfAddress(address);
      if (this.#isElsewhere(service, slot, hash, (record) => hasAddress(views, record, address)))
        found.addresses++;
    }
    for (const hostname of hostnames) {
      if (except.hostnames.has(hostname)) continue;
      const hash = this.#hashOfHostname(hostname);
      if (this.#isElsewhere(service, slot, hash, (record) => hasHostname(views, record, hostname)))
        found.hostnames++;
    }
    return found;
  }

  /** Whether a slice in another slot has something with this hash. */
  #isElsewhere(service: number, slot: number, hash: number, has: (record: number) => boolean): boolean {
    const list = this.#get(service + SERVICE.SLICES);
    const index = this.#get(service + SERVICE.INDEX);
    const mask = 2 ** this.#get(index) - 1;
    for (let cell = hash & mask, at = cellAt(index, cell); this.#get(at + CELL.PLACE) !== 0; ) {
      const other = slotIn(this.#get(at + CELL.PLACE));
      const record =
        this.#get(at) === hash && other >= 0 ? this.#get(list + SLICE_LIST.RECORDS + other * 4) : 0;
      if (record !== 0 && other !== slot && has(record)) return true;
      cell = (cell + 1) & mask;
      at = cellAt(index, cell);
    }
    return false;
  }

  #emptyCell(service: number, hash: number, slot: number): void {
    const cell = this.#findCell(service, hash, slot);
    if (cell !== 0) this.#space.store(cell + CELL.PLACE, EMPTIED);
  }

  /** Changes the number of the endpoint in the cell of a hash and a slot. */
  #setCell(service: number, hash: number, place: number): void {
    const cell = this.#findCell(service, hash, slotIn(place));
    if (cell !== 0) this.#space.store(cell + CELL.PLACE, place);
  }

  #findCell(service: number, hash: number, slot: number): number {
    const index = this.#get(service + SERVICE.INDEX);
    const mask = 2 ** this.#get(index) - 1;
    for (let cell = hash & mask, at = cellAt(index, cell); this.#get(at + CELL.PLACE) !== 0; ) {
      if (this.#get(at) === hash && slotIn(this.#get(at + CELL.PLACE)) === slot) return at;
      cell = (cell + 1) & mask;
      at = cellAt(index, cell);
    }
    return 0;
  }

  /** @throws TableFullError */
  #fillCell(service: number, hash: number, place: number): void {
    const index = this.#roomy(service);
    const mask = 2 ** this.#get(index) - 1;
    let at = cellAt(index, hash & mask);
    for (let cell = hash & mask; this.#get(at + CELL.PLACE) > 0; at = cellAt(index, cell))
      cell = (cell + 1) & mask;
    if (this.#get(at + CELL.PLACE) === 0)
      this.#words[(index + ENDPOINT_INDEX.USED) >> 2] = this.#used(index) + 1;
    // Readers look at the place first.
    this.#space.store(at + CELL.HASH, hash);
    this.#space.store(at + CELL.PLACE, place);
  }

  #used(index: number): number {
    return this.#get(index + ENDPOINT_INDEX.USED);
  }

  /** The index of a service, replaced if it is nearly full. */
  #roomy(service: number): number {
    const index = this.#get(service + SERVICE.INDEX);
    const shift = this.#get(index);
    if (this.#used(index) < 0.75 * 2 ** shift) return index;
    const live = Array.from(this.#live(index));
    const next = this.#newBlock(live.length > 0.375 * 2 ** shift ? shift + 1 : shift);
    const mask = 2 ** this.#get(next) - 1;
    const words = this.#words;
    for (const cell of live) {
      let to = this.#get(cell) & mask;
      while (this.#get(cellAt(next, to) + CELL.PLACE) !== 0) to = (to + 1) & mask;
      words[cellAt(next, to) >> 2] = this.#get(cell);
      words[(cellAt(next, to) + CELL.PLACE) >> 2] = this.#get(cell + CELL.PLACE);
    }
    words[(next + ENDPOINT_INDEX.USED) >> 2] = live.length;
    for (const field of [ENDPOINT_INDEX.OVERLAPS, ENDPOINT_INDEX.SHARES, ENDPOINT_INDEX.MADE])
      words[(next + field) >> 2] = this.#get(index + field);
    this.#space.store(service + SERVICE.INDEX, next);
    this.#space.retire(index, computeSize(shift));
    return next;
  }

  /** The cells of an index that lead to a slot. */
  *#live(index: number): Iterable<number> {
    const end = index + computeSize(this.#get(index));
    for (let at = index + ENDPOINT_INDEX.CELLS; at < end; at += CELL.OCTETS)
      if (this.#get(at + CELL.PLACE) > 0) yield at;
  }

  #newBlock(shift: number): number {
    const block = this.#space.take(computeSize(shift));
    this.#words.fill(0, block >> 2, (block + computeSize(shift)) >> 2);
    this.#words[block >> 2] = shift;
    return block;
  }

  #computeChange(slotChange: SlotChange): IndexChange {
    const { views } = this.#space;
    const { before, record } = slotChange;
    const former = this.#former.load(views, before);
    const latter = this.#latter.load(views, record);
    const known = before === 0 ? NO_HASHES : (this.#hashes.get(before) ?? this.#hashAll(former));
    const small =
      before !== 0 && known.areUnique ? this.#computeSmallChange(slotChange, known.hashes) : undefined;
    if (small !== undefined) return small;
    const hashes = this.#hashAll(latter);
    return {
      ...slotChange,
      former: this.#collectKeys(former, listNumbers(former)),
      now: this.#collectKeys(latter, listNumbers(latter)),
      hashes,
      difference: new WholeDifference(known.hashes, hashes.hashes),
    };
  }

  /**
   * @param known hashes of the endpoints before the change
   * @returns undefined: too many endpoints changed, or the slice repeats an endpoint
   */
  #computeSmallChange(slotChange: SlotChange, known: Int32Array): IndexChange | undefined {
    const former = this.#former;
    const latter = this.#latter;
    const alignment = this.#alignment;
    alignment.align(this.#space.views, former, latter);
    const { matches, left, added } = alignment;
    if (left.length + added.length > MAX_SMALL) return undefined;
    const hashes = new Int32Array(latter.count * 2);
    for (let number = 0; number < latter.count; number++) {
      const match = matches[number] ?? -1;
      if (match < 0) this.#hash(latter, number, hashes);
      else {
        hashes[number * 2] = known[match * 2] ?? 0;
        hashes[number * 2 + 1] = known[match * 2 + 1] ?? 0;
      }
    }
    if (!areUnique(hashes, added)) return undefined;
    return {
      ...slotChange,
      former: this.#collectKeys(former, left),
      now: this.#collectKeys(latter, added),
      hashes: { hashes, areUnique: true },
      difference: new SmallDifference(known, hashes, alignment),
    };
  }

  /** The keys of some endpoints of a list. */
  #collectKeys(list: PlaceList, numbers: readonly number[]): SliceKeys {
    const { views } = this.#space;
    const addresses = new Set<AddressValue>();
    const hostnames = new Set<string>();
    let named = 0;
    let made = 0;
    for (const number of numbers) {
      const section = list.sections[number] ?? 0;
      const endpoint = list.endpoints[number] ?? 0;
      addresses.add(readEndpointAddress(views, section, endpoint));
      const word = readLabelWord(views, list, number);
      if ((word & MADE_LABEL) !== 0) made++;
      if (word === 0 || (word & MADE_LABEL) !== 0) continue;
      named++;
      hostnames.add(readEndpointHostname(views, section, endpoint) ?? '');
    }
    const overlaps = numbers.length - addresses.size;
    return { addresses, hostnames, overlaps, shares: named - hostnames.size, made };
  }

  #hashAll(list: PlaceList): SliceHashes {
    const hashes = new Int32Array(list.count * 2);
    for (let number = 0; number < list.count; number++) this.#hash(list, number, hashes);
    return { hashes, areUnique: new Set(hashes).size === hashes.length };
  }

  /** Writes the two hashes of an endpoint. */
  #hash(list: PlaceList, number: number, to: Int32Array): void {
    const { views } = this.#space;
    const section = list.sections[number] ?? 0;
    const endpoint = list.endpoints[number] ?? 0;
    const address = readEndpointAddress(views, section, endpoint);
    to[number * 2] = this.#hashOfAddress(address);
    to[number * 2 + 1] = this.#hashOfLabel(section, readLabelWord(views, list, number), address);
  }

  #hashOfAddress(address: AddressValue): number {
    return this.#space.hashKey(INDEXED.ADDRESS, toAddressOctets(address));
  }

  #hashOfHostname(hostname: string): number {
    const label = this.#label;
    label[0] = hostname.length;
    for (let index = 0; index < hostname.length; index++) label[1 + index] = hostname.charCodeAt(index);
    return this.#space.hashKey(INDEXED.LABEL, label.subarray(0, 1 + hostname.length));
  }

  /** @param word of the label */
  #hashOfLabel(section: number, word: number, address: AddressValue): number {
    const { octets } = this.#space.views;
    if (word === 0) {
      const length = this.#writeLabel(this.#label, Number(address));
      return this.#space.hashKey(INDEXED.LABEL, this.#label.subarray(0, length));
    }
    const at = section + (word & ~MADE_LABEL);
    return this.#space.hashKey(INDEXED.LABEL, octets.subarray(at, at + 1 + (octets[at] ?? 0)));
  }
}

const listNumbers = ({ count }: PlaceList): readonly number[] =>
  Array.from({ length: count }, (_, number) => number);

const cellAt = (index: number, cell: number): number => index + ENDPOINT_INDEX.CELLS + cell * CELL.OCTETS;
const slotIn = (place: number): number => (place >> SLOT_SHIFT) - 1;
/** @param endpoint its number in its slice, or `SEVERAL` */
const encodePlace = (slot: number, endpoint: number): number =>
  ((slot + 1) << SLOT_SHIFT) | (endpoint < MAX_HINTS ? endpoint + 1 : 0);
const computeSize = (shift: number): number => ENDPOINT_INDEX.CELLS + CELL.OCTETS * 2 ** shift;

function hasAddress(views: TableViews, record: number, address: AddressValue): boolean {
  for (const section of listSections(views, record))
    for (let endpoint = 0, ready = readyIn(views, section); endpoint < ready; endpoint++)
      if (readEndpointAddress(views, section, endpoint) === address) return true;
  return false;
}

function hasHostname(views: TableViews, record: number, hostname: string): boolean {
  for (const section of listSections(views, record))
    for (let endpoint = 0, ready = readyIn(views, section); endpoint < ready; endpoint++)
      if (readEndpointHostname(views, section, endpoint) === hostname) return true;
  return false;
}
